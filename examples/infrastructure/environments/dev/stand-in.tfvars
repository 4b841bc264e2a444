# The stand-in services of the README, in place of the deployment.
regions = {
  eu = "http://127.0.0.1:8420"
  us = "http://127.0.0.1:8421"
}

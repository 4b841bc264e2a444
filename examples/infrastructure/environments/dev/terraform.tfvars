regions = {
  eu = "https://streams-eu.dev.example.com"
  us = "https://streams-us.dev.example.com"
}

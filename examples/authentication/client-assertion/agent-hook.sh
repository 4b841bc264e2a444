#!/bin/sh
# The hook pre-plan of an HCP Terraform agent, and also its hook pre-apply.
echo "STREAM_OAUTH2_CLIENT_ASSERTION=$TFC_WORKLOAD_IDENTITY_TOKEN" >>"$TFC_AGENT_ENV"

package config

import (
	"github.com/hashicorp/terraform-plugin-framework/provider/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// Schema is the schema of the provider block. [Read] reads the block.
func Schema() schema.Schema {
	return schema.Schema{
		MarkdownDescription: "Manages which processors are attached to the streams of a stream management service.",
		Attributes: map[string]schema.Attribute{
			"base_url": optionalString("Address of the service, such as `https://streams.example.com`, with or without `/` or " +
				"`/v2` at its end. A path prefix is kept. Required, here or in the environment: `STREAM_BASE_URL`."),
			"deployment": optionalString("Name of the deployment in the state. Set it for a deployment with several addresses, so " +
				"that another address shows no diff. Environment: `STREAM_DEPLOYMENT`. Default: `base_url`."),
			"detect_drift": optionalBool("Read streams with `GET /v2/streams/{id}` in refresh, import and queries, and before a create is " +
				"planned. **The service's interface document does not specify this route**: turn `detect_drift` on only for a deployment " +
				"that offers it. Environment: `STREAM_DETECT_DRIFT`, `true` or `false`. Default: `false`."),

			"token": secretString("Bearer token. Environment: `STREAM_TOKEN`. Default: none."),
			"token_file": optionalString("Path of a file with a bearer token that may change while Terraform runs. " +
				"Environment: `STREAM_TOKEN_FILE`. Default: none."),
			"basic_auth": optionalObject("User for HTTP Basic authentication. Default: none.", map[string]schema.Attribute{
				"username": optionalString("Name of the user. Environment: `STREAM_USERNAME`. No default."),
				"password": secretString("Password of the user. Environment: `STREAM_PASSWORD`. No default."),
			}),
			"oauth2": optionalObject("OAuth2 client credentials grant, with one of `client_secret`, `client_assertion` and "+
				"`client_assertion_file`. Default: none.", map[string]schema.Attribute{
				"token_url":     optionalString("Address of the token endpoint. Environment: `STREAM_OAUTH2_TOKEN_URL`. No default."),
				"client_id":     optionalString("Id of the client. Environment: `STREAM_OAUTH2_CLIENT_ID`. No default."),
				"client_secret": secretString("Secret of the client. Environment: `STREAM_OAUTH2_CLIENT_SECRET`. No default."),
				"client_assertion": secretString("Assertion instead of a secret (RFC 7523), such as a token of the CI system. Environment: " +
					"`STREAM_OAUTH2_CLIENT_ASSERTION`, or else `TFC_WORKLOAD_IDENTITY_TOKEN_STREAM`. No default."),
				"client_assertion_file": optionalString("Path of a file with an assertion that may change while Terraform runs. " +
					"Environment: `STREAM_OAUTH2_CLIENT_ASSERTION_FILE`. No default."),
				"scopes": schema.ListAttribute{
					ElementType:         types.StringType,
					Optional:            true,
					MarkdownDescription: "Scopes to request. Default: none.",
				},
				"endpoint_params": secretMap("Additional parameters of the token request, such as `audience`. Default: none."),
			}),
			"headers": secretMap("Headers of each request to the service (not to a token endpoint), such as an API key. " +
				"`Authorization` is allowed if there is no other scheme. Environment: `STREAM_HEADERS`, a JSON object. " +
				"Default: none."),

			"tls": optionalObject("Verification of the service's certificate, and the client certificate. The token endpoint gets the same, "+
				"apart from `server_name`. Default: none.", map[string]schema.Attribute{
				"ca_cert_pem": optionalString("CA certificates that replace the system's, in PEM, also for the token endpoint. " +
					"Environment: `STREAM_TLS_CA_CERT_PEM`. Default: the system's."),
				"client_cert_pem": optionalString("Client certificate (chain) in PEM, also for the token endpoint. Requires `client_key_pem`. " +
					"Environment: `STREAM_TLS_CLIENT_CERT_PEM`. Default: none."),
				"client_key_pem": secretString("Private key of the client certificate in PEM, also for the token endpoint. Requires " +
					"`client_cert_pem`. " +
					"Environment: `STREAM_TLS_CLIENT_KEY_PEM`. Default: none."),
				"server_name": optionalString("Expected name in the certificate of the host of `base_url`; not for a token endpoint on another " +
					"host or port. Default: the host of `base_url`."),
				"insecure_skip_verify": optionalBool("Disable certificate verification (insecure), also of the token endpoint. Default: `false`."),
			}),
			"request_timeout": optionalString("Time limit of one attempt, such as `10s` or `1m30s`. Default: `30s`."),
			"retry": optionalObject("Retries of failed connections and of the statuses 408, 409, 423, 425, 429 and every 5xx but 501, 505 and 511; "+
				"`Retry-After` is honoured. Default: retries for 22 seconds after the first attempt.", map[string]schema.Attribute{
				"max_attempts": optionalNumber("Number of attempts, including the first; `1` means no retry. Default: as many as 22 seconds allow."),
				"min_backoff":  optionalString("Shortest wait before a retry, as a duration. Default: `500ms`."),
				"max_backoff":  optionalString("Longest wait before a retry, as a duration. Only `Retry-After` may exceed it. Default: `5s`."),
			}),
			"requests_per_second": optionalNumber("Maximum requests per second, retries included. Default: no limit."),
			"max_concurrent_requests": optionalNumber("Maximum concurrent requests of the provider block, whatever `-parallelism` is. Default: " +
				"`10`."),
		},
	}
}

func optionalString(description string) schema.StringAttribute {
	return schema.StringAttribute{Optional: true, MarkdownDescription: description}
}

func optionalBool(description string) schema.BoolAttribute {
	return schema.BoolAttribute{Optional: true, MarkdownDescription: description}
}

func optionalNumber(description string) schema.NumberAttribute {
	return schema.NumberAttribute{Optional: true, MarkdownDescription: description}
}

func optionalObject(description string, attributes map[string]schema.Attribute) schema.SingleNestedAttribute {
	return schema.SingleNestedAttribute{Optional: true, MarkdownDescription: description, Attributes: attributes}
}

func secretString(description string) schema.StringAttribute {
	return schema.StringAttribute{Optional: true, Sensitive: true, MarkdownDescription: description}
}

func secretMap(description string) schema.MapAttribute {
	return schema.MapAttribute{ElementType: types.StringType, Optional: true, Sensitive: true, MarkdownDescription: description}
}

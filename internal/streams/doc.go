// Package streams is a client for version 2 of the stream management service. It knows nothing of
// Terraform.
//
// The interface document specifies one operation and leaves much "not shown". By section:
//
//   - 2, Stream and error body: specified. Six fields, all required; an error is {"message": string}.
//     A success that lacks a field, or has it with another type, is an error here. Identifiers have
//     no specified format: any text is sent as one escaped path segment, but for what a URL cannot
//     carry ([CheckStreamID]).
//   - 4, Update stream: specified. [Client.UpdateStream] sends PATCH /v2/streams/{id}. Whether an
//     update replaces or merges is not shown: the answer must hold the set that was sent, or the
//     call fails and says what differs.
//   - 4, Other endpoints: not shown. [Client.ReadStream] sends GET /v2/streams/{id} and must only be
//     called by those who know that their deployment has it.
//   - 5, Authentication: not shown. Bearer token, HTTP Basic, OAuth2 client credentials, client
//     certificates and free headers are there; none is assumed.
//   - 7, Errors: the kinds are specified, their status codes are not. [Kind] maps them by RFC 9110.
//   - 8, Limits: not shown. An optional rate limit, time limits, and retries of what may pass.
package streams

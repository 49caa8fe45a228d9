// Package compose makes one plain JSON Schema of many: what references reach
// is taken in (Bundle), extensions are laid over their base (Compose), and the
// visibility annotations ucp_request and ucp_response are carried out for one
// direction and operation (View).
package compose

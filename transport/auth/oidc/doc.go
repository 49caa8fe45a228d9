// Package oidc lets people sign in at an identity provider: OpenID Connect with the
// authorization code and PKCE.
//
// Begin gives the address at the provider and what the browser keeps meanwhile; Finish
// takes what the browser comes back with and says who it is. What the provider sends is
// bounded in time and size, followed nowhere else, and never shown to anybody.
package oidc

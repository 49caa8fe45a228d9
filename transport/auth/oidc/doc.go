// Package oidc lets people sign in at an identity provider: OpenID Connect with the
// authorization code and PKCE.
//
// Begin returns the address at the provider and the browser's state; Finish processes the callback
// and identifies the person. The provider's responses are bounded in time and size, and cannot
// redirect requests. Of their content, people see only the person's name and address.
package oidc

package participant

import "testing"

func TestThumbprints(t *testing.T) {
	for name, c := range map[string]struct{ jwk, want string }{
		// RFC 7638, section 3.1.
		"RSA": {`{"kty":"RSA","n":"0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFFxuhDR1L6tSoc_BJECPebWKRXjBZCiFV4n3oknjhMstn64tZ_2W-5JsGY4Hc5n9yBXArwl93lqt7_RN5w6Cf0h4QyQ5v-65YGjQR0_FDW2QvzqY368QQMicAtaSqzs8KJZgnYb9c7d0zgdAZHzu6qMQvRL5hajrn1n91CbOpbISD08qNLyrdkt-bFTWhAI4vMQFh6WeZu0fM4lFd2NcRwr3XPksINHaQ-G_xBniIqbw0Ls1jF44-csFCur-kEgU8awapJzKnqDKgw","e":"AQAB","alg":"RS256","kid":"2011-04-29"}`,
			"NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs"},
		"none":      {``, ""},
		"symmetric": {`{"kty":"oct","k":"AA"}`, ""},
	} {
		if got := thumbprint([]byte(c.jwk)); got != c.want {
			t.Errorf("%s: the thumbprint is %s", name, got)
		}
	}
}

package service

import (
	"testing"

	"atelier/cmd/atelier/config"
)

// In an earlier version, the printed address was "http://[::]:8080", which no browser can open.
func TestThePrintedAddressCanBeOpened(t *testing.T) {
	for _, c := range []struct {
		cfg        config.Server
		addr, want string
	}{
		{config.Server{}, "127.0.0.1:8080", "http://127.0.0.1:8080"},
		{config.Server{}, "[::]:8080", "http://127.0.0.1:8080"},
		{config.Server{}, "0.0.0.0:80", "http://127.0.0.1:80"},
		{config.Server{}, "[::1]:8080", "http://[::1]:8080"},
		{config.Server{TLSCert: "c.pem"}, "10.1.2.3:8443", "https://10.1.2.3:8443"},
		{config.Server{PublicURL: "https://workshop.example.org/"}, "127.0.0.1:8080", "https://workshop.example.org"},
	} {
		if got := openAt(c.cfg, c.addr); got != c.want {
			t.Errorf("the address for %s is %s, want %s", c.addr, got, c.want)
		}
	}
}

package main

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"
)

type healthCmd struct {
	common
	InternalListen string `help:"Internal listener of the server." placeholder:"HOST:PORT"`
}

// Run asks a running server whether it is ready. Containers use it, because they contain no other
// program for this.
func (c healthCmd) Run() error {
	cfg, err := c.load()
	if err != nil {
		return err
	}
	addr := cfg.Server.InternalListen
	if c.InternalListen != "" {
		addr = c.InternalListen
	}
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return errors.New("the internal listener is off or is not HOST:PORT, so the server's health cannot be read")
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "localhost"
	}
	client := http.Client{Timeout: 5 * time.Second}
	res, err := client.Get("http://" + net.JoinHostPort(host, port) + "/readyz")
	if err != nil {
		return fmt.Errorf("not ready: %w", err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, 64<<10))
	if err != nil {
		return fmt.Errorf("not ready: %w", err)
	}
	fmt.Println(strings.TrimSpace(string(body)))
	if res.StatusCode != http.StatusOK {
		return errors.New("not ready")
	}
	return nil
}

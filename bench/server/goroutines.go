//go:build linux

package server

import (
	"bufio"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Goroutines asks the server's metrics for the number of its goroutines.
func (p *Process) Goroutines() (int, error) {
	client := http.Client{Timeout: 5 * time.Second}
	defer client.CloseIdleConnections()
	resp, err := client.Get("http://" + p.addr.internal + "/metrics")
	if err != nil {
		return 0, fmt.Errorf("read metrics: %w", err)
	}
	defer resp.Body.Close()
	lines := bufio.NewScanner(resp.Body)
	for lines.Scan() {
		if n, ok := strings.CutPrefix(lines.Text(), "go_goroutines "); ok {
			return strconv.Atoi(n)
		}
	}
	return 0, errors.Join(errors.New("the metrics do not tell the goroutines"), lines.Err())
}

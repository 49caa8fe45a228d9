//go:build linux

package broadcast

import (
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
)

// poster posts messages, for publishers of event streams. A post waits for its
// answer, so it cannot be done on the loop. Each publisher posts one message
// after the other: their order is audited.
type poster struct {
	client  *http.Client
	url     string
	header  http.Header
	queues  []chan postJob
	running sync.WaitGroup
	pending sync.WaitGroup
	// enough gives up what is still under way, or waits.
	ctx    context.Context
	enough context.CancelFunc
}

type postJob struct {
	body []byte
	done func(error)
}

// maxPending bounds what waits to be posted by one publisher; its time goes on
// counting.
const maxPending = 10_000

func newPoster(job *Job, address string) (*poster, error) {
	p := &poster{url: job.Publish, header: http.Header{}}
	p.ctx, p.enough = context.WithCancel(context.Background())
	p.header.Set("Content-Type", "text/plain; charset=utf-8")
	if strings.HasPrefix(strings.TrimSpace(job.Dialect.Send), "{") {
		p.header.Set("Content-Type", "application/json")
	}
	for _, line := range job.Dialect.Headers {
		name, value, _ := strings.Cut(line, ":")
		p.header.Set(name, strings.TrimSpace(value))
	}
	// Through the same door as the streams: a tunnel, where the server speaks
	// TLS.
	dialer := net.Dialer{Timeout: 5 * time.Second}
	dial := func(ctx context.Context, network, _ string) (net.Conn, error) {
		return dialer.DialContext(ctx, network, address)
	}
	p.client = &http.Client{Timeout: 30 * time.Second, Transport: &http.Transport{
		DialContext: dial, MaxIdleConnsPerHost: len(job.Publishers), TLSNextProto: map[string]func(string, *tls.Conn) http.RoundTripper{},
	}}
	if _, err := http.NewRequest(http.MethodPost, job.Publish, nil); err != nil {
		return nil, fmt.Errorf("address to post to: %w", err)
	}
	for range job.Publishers {
		queue := make(chan postJob, maxPending)
		p.queues = append(p.queues, queue)
		p.running.Go(func() {
			for j := range queue {
				j.done(p.send(j.body))
				p.pending.Done()
			}
		})
	}
	return p, nil
}

// post sends a message of a publisher in the background; done is called from
// there.
func (p *poster) post(publisher int, body []byte, done func(error)) {
	p.pending.Add(1)
	select {
	case p.queues[publisher] <- postJob{body, done}:
	default:
		p.pending.Done()
		go done(fmt.Errorf("more than %d messages wait to be posted", maxPending))
	}
}

func (p *poster) send(body []byte) error {
	req, err := http.NewRequestWithContext(p.ctx, http.MethodPost, p.url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header = p.header
	resp, err := p.client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, 64<<10))
	if resp.StatusCode/100 != 2 {
		return fmt.Errorf("status %d", resp.StatusCode)
	}
	return nil
}

// wait returns when everything has been posted. What a server does not answer in
// time is given up: a queue of it would take days.
func (p *poster) wait(within time.Duration) {
	timer := time.AfterFunc(within, p.enough)
	defer timer.Stop()
	p.pending.Wait()
}

func (p *poster) close() {
	p.enough()
	for _, queue := range p.queues {
		close(queue)
	}
	p.running.Wait()
	p.client.CloseIdleConnections()
}

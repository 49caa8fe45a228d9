//go:build linux

package broadcast

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
)

// poster posts messages, for publishers of event streams. A post waits for its response, so it
// cannot run on the loop. Each publisher posts one message after another, because the order is
// audited.
type poster struct {
	client  *http.Client
	queues  []chan postJob
	running sync.WaitGroup
	pending sync.WaitGroup
	// enough cancels running and waiting requests.
	ctx    context.Context
	enough context.CancelFunc
}

// postBox is a publisher's target, with its headers.
type postBox struct {
	url    string
	header http.Header
}

type postJob struct {
	body []byte
	done func(error)
}

// maxPending is the maximum number of waiting posts per publisher. The wait counts towards their
// latency.
const maxPending = 10_000

func newPoster(job *Job, address string, scripts []*script) (*poster, error) {
	p := &poster{}
	p.ctx, p.enough = context.WithCancel(context.Background())
	// Posts take the same path as the streams: through a tunnel, if the server uses TLS.
	dialer := net.Dialer{Timeout: 5 * time.Second}
	dial := func(ctx context.Context, network, _ string) (net.Conn, error) {
		return dialer.DialContext(ctx, network, address)
	}
	p.client = &http.Client{Timeout: 30 * time.Second, CheckRedirect: stay, Transport: &http.Transport{
		DialContext: dial, MaxIdleConnsPerHost: len(job.Publishers), TLSNextProto: map[string]func(string, *tls.Conn) http.RoundTripper{},
	}}
	boxes := make([]postBox, len(scripts))
	for i, s := range scripts {
		boxes[i] = postBox{job.Publishers[i].Publish, s.postHeader()}
		if _, err := http.NewRequest(http.MethodPost, boxes[i].url, nil); err != nil {
			return nil, fmt.Errorf("address to post to: %w", plainly(err))
		}
	}
	for _, to := range boxes {
		queue := make(chan postJob, maxPending)
		p.queues = append(p.queues, queue)
		p.running.Go(func() {
			for j := range queue {
				j.done(p.send(to, j.body))
				p.pending.Done()
			}
		})
	}
	return p, nil
}

// stay prevents redirections from being followed, so that a redirection is the response.
func stay(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// postHeader returns the headers of a post.
func (s *script) postHeader() http.Header {
	header := http.Header{"Content-Type": {"text/plain; charset=utf-8"}}
	if strings.HasPrefix(strings.TrimSpace(s.send.String()), "{") {
		header.Set("Content-Type", "application/json")
	}
	for _, line := range s.lines() {
		name, value, _ := strings.Cut(line, ":")
		header.Set(name, strings.TrimSpace(value))
	}
	return header
}

// plainly returns an error without the address of the request, which can contain secrets.
func plainly(err error) error {
	var of *url.Error
	if errors.As(err, &of) {
		return of.Err
	}
	return err
}

// post sends a publisher's message in the background, and calls done with the result on another
// goroutine. If too many posts wait, the result is an error.
func (p *poster) post(publisher int, body []byte, done func(error)) {
	p.pending.Add(1)
	select {
	case p.queues[publisher] <- postJob{body, done}:
	default:
		p.pending.Done()
		go done(fmt.Errorf("more than %d messages wait to be posted", maxPending))
	}
}

func (p *poster) send(to postBox, body []byte) error {
	req, err := http.NewRequestWithContext(p.ctx, http.MethodPost, to.url, bytes.NewReader(body))
	if err != nil {
		return plainly(err)
	}
	req.Header = to.header
	resp, err := p.client.Do(req)
	if err != nil {
		return plainly(err)
	}
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, 64<<10))
	if resp.StatusCode/100 != 2 {
		return fmt.Errorf("status %d", resp.StatusCode)
	}
	return nil
}

// wait returns when all posts have ended. After the time within, it cancels all remaining requests,
// because a full queue of unanswered requests would take days.
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

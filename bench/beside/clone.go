//go:build linux

package beside

import (
	"bytes"
	"context"
	"crypto/sha1"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
)

// most is the maximum size of a pack, in bytes.
const most = 256 << 20

// access is the URL of the code's repository, with a person's credentials.
type access struct {
	URL      string `json:"url"`
	Username string `json:"username"`
	Password string `json:"password"`
}

// clone reads the whole repository as git does, and returns the size of the pack.
func clone(ctx context.Context, client *http.Client, a *access, l *line) (int64, error) {
	refs, err := a.ask(ctx, client, http.MethodGet, "/info/refs?service=git-upload-pack", nil)
	if err != nil {
		return 0, err
	}
	advertised, err := io.ReadAll(io.LimitReader(refs, 1<<20))
	_ = refs.Close() // the content was read before, so an error does not matter
	if err != nil {
		return 0, err
	}
	want := wants(string(advertised))
	if want == nil {
		return 0, fmt.Errorf("there is nothing to clone: %.100q", advertised)
	}
	pack, err := a.ask(ctx, client, http.MethodPost, "/git-upload-pack", want)
	if err != nil {
		return 0, err
	}
	defer pack.Close()
	return readPack(l.reader(pack))
}

// ask makes one request and returns the body of a successful response.
func (a *access) ask(ctx context.Context, client *http.Client, method, path string, body []byte) (io.ReadCloser, error) {
	req, err := http.NewRequestWithContext(ctx, method, a.URL+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.SetBasicAuth(a.Username, a.Password)
	if body != nil {
		req.Header.Set("Content-Type", "application/x-git-upload-pack-request")
	}
	answer, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	if answer.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(io.LimitReader(answer.Body, 200))
		_ = answer.Body.Close() // the status is the result
		return nil, &refusal{answer.StatusCode, string(text)}
	}
	return answer.Body, nil
}

// refusal is the error for a status other than success.
type refusal struct {
	status int
	text   string
}

func (r *refusal) Error() string { return fmt.Sprintf("status %d: %s", r.status, r.text) }

// wants returns the request for all branches of an advertisement, by a client that has no commits.
// If the advertisement has no branches, wants returns nil.
func wants(advertised string) []byte {
	var ids []string
	for line := range strings.SplitSeq(advertised, "\n") {
		name, _, _ := strings.Cut(line, "\x00")
		id, ref, ok := strings.Cut(name, " ")
		if ok && strings.HasPrefix(ref, "refs/heads/") && len(id) >= 40 {
			ids = append(ids, id[len(id)-40:])
		}
	}
	if len(ids) == 0 {
		return nil
	}
	slices.Sort(ids)
	var out []byte
	for i, id := range slices.Compact(ids) {
		line := "want " + id
		if i == 0 {
			line += " ofs-delta agent=atelier-bench"
		}
		out = fmt.Appendf(out, "%04x%s\n", len(line)+5, line)
	}
	return append(out, "00000009done\n"...)
}

// readPack reads the response to a fetch, and returns the size of the pack in bytes. The response
// is the line NAK, because client and server have no commit in common, and the pack. The pack's
// last 20 bytes are the SHA-1 hash of the rest.
func readPack(r io.Reader) (int64, error) {
	head := make([]byte, len("0008NAK\nPACK"))
	if n, err := io.ReadFull(r, head); err != nil {
		return 0, fmt.Errorf("the answer ends after %q: %w", head[:n], err)
	} else if string(head) != "0008NAK\nPACK" {
		return 0, fmt.Errorf("the answer begins with %q, want NAK and a pack", head)
	}
	sum := sha1.New()
	_, _ = sum.Write(head[len(head)-4:]) // never fails
	size := int64(4)
	var tail []byte // at most the last 20 bytes, which can be the hash
	for buffer := make([]byte, 64<<10); ; {
		n, err := r.Read(buffer)
		tail = append(tail, buffer[:n]...)
		if cut := len(tail) - sha1.Size; cut > 0 {
			_, _ = sum.Write(tail[:cut])
			tail = append(tail[:0], tail[cut:]...)
		}
		if size += int64(n); size > most {
			return size, fmt.Errorf("the pack is larger than %d bytes", int64(most))
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return size, err
		}
	}
	if !bytes.Equal(sum.Sum(nil), tail) {
		return size, fmt.Errorf("the pack of %d bytes is cut off or damaged", size)
	}
	return size, nil
}

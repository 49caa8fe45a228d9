// Command receiver receives webhooks. It verifies the signature of each delivery, ignores repeated
// deliveries, and prints the events. WEBHOOK_SECRET contains the webhook's secret. LISTEN contains
// the address; the default is 127.0.0.1:8090.
package main

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	maxBody = 64 << 10
	maxAge  = 5 * time.Minute
	maxSeen = 10_000 // ids
)

func main() {
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(os.Getenv("WEBHOOK_SECRET"), "whsec_"))
	if err != nil || len(key) == 0 {
		log.Fatal("WEBHOOK_SECRET must be the secret of the webhook: whsec_ and Base64")
	}
	server := http.Server{
		Addr:              cmp.Or(os.Getenv("LISTEN"), "127.0.0.1:8090"),
		Handler:           &receiver{key: key, known: map[string]bool{}},
		ReadHeaderTimeout: 10 * time.Second,
		ReadTimeout:       20 * time.Second,
	}
	log.Fatal(server.ListenAndServe())
}

// receiver is safe for concurrent use.
type receiver struct {
	key []byte

	mu    sync.Mutex
	known map[string]bool // the ids in seen
	seen  []string        // newest last
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, req.Body, maxBody))
	if err != nil {
		http.Error(w, "the body is too large or incomplete", http.StatusBadRequest)
		return
	}
	if !r.genuine(req.Header, body) {
		http.Error(w, "the signature is wrong or too old", http.StatusUnauthorized)
		return
	}
	var event struct {
		Type string `json:"type"`
	}
	if err := json.Unmarshal(body, &event); err != nil {
		http.Error(w, "the body is not JSON", http.StatusBadRequest)
		return
	}
	// The server repeats a delivery if the earlier answer was lost.
	if id := req.Header.Get("webhook-id"); r.first(id) {
		fmt.Println(event.Type, id) // replace this line with your own code
	}
	w.WriteHeader(http.StatusNoContent)
}

// genuine reports whether the delivery was signed with the secret, at most maxAge ago.
func (r *receiver) genuine(header http.Header, body []byte) bool {
	id, at := header.Get("webhook-id"), header.Get("webhook-timestamp")
	seconds, err := strconv.ParseInt(at, 10, 64)
	if err != nil || time.Since(time.Unix(seconds, 0)).Abs() > maxAge {
		return false
	}
	mac := hmac.New(sha256.New, r.key)
	fmt.Fprintf(mac, "%s.%s.%s", id, at, body)
	want := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
	for signature := range strings.FieldsSeq(header.Get("webhook-signature")) {
		if hmac.Equal([]byte(signature), []byte(want)) {
			return true
		}
	}
	return false
}

// first reports whether an id is new, and records it.
func (r *receiver) first(id string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.known[id] {
		return false
	}
	if len(r.seen) == maxSeen {
		delete(r.known, r.seen[0])
		r.seen = r.seen[1:]
	}
	r.known[id], r.seen = true, append(r.seen, id)
	return true
}

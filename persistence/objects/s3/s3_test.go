package s3_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"atelier/actors/durable"
	"atelier/persistence/objects"
	"atelier/persistence/objects/objectstest"
	"atelier/persistence/objects/s3"
)

func TestABucketSatisfiesTheContractOfAStore(t *testing.T) { objectstest.Run(t, objectstest.S3) }

func TestPrefixesOfABucketDoNotMix(t *testing.T) {
	server := objectstest.Serve(t)
	open := func(prefix string) *s3.Store {
		o := server.Options()
		o.Prefix = prefix
		s, err := s3.Open(o)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() })
		return s
	}
	one, two := open("one/"), open("two/")
	if err := objects.PutBytes(t.Context(), one, "a", []byte("1")); err != nil {
		t.Fatal(err)
	}
	if vacant, err := objects.Vacant(t.Context(), two); !vacant || err != nil {
		t.Errorf("the other prefix is not empty, %v", err)
	}
	if vacant, err := objects.Vacant(t.Context(), one); vacant || err != nil {
		t.Errorf("the used prefix is empty, %v", err)
	}
	if err := objects.PutBytes(t.Context(), two, "a", []byte("22")); err != nil {
		t.Fatal(err)
	}
	if err := two.Delete(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	if _, err := two.Stat(t.Context(), "a"); !errors.Is(err, objects.ErrNotFound) {
		t.Errorf("the deleted object still exists: %v, want ErrNotFound", err)
	}
	info, err := one.Stat(t.Context(), "a")
	if b, failed := objects.GetBytes(t.Context(), one, "a", 0, -1, 10); failed != nil || string(b) != "1" || err != nil || info.Key != "a" || info.Size != 1 {
		t.Errorf("the first prefix has %q and %+v: %v, %v", b, info, failed, err)
	}
}

// The error describes the cause, without secrets.
func TestWrongKeysAndBucketsFailAtTheStart(t *testing.T) {
	server := objectstest.Serve(t)
	for want, change := range map[string]func(*s3.Options){
		"SignatureDoesNotMatch": func(o *s3.Options) { o.SecretKey = "wrong-" + o.SecretKey },
		"give no access to it":  func(o *s3.Options) { o.AccessKey = "nobody" },
		"does not exist":        func(o *s3.Options) { o.Bucket = "another" },
	} {
		o := server.Options()
		change(&o)
		_, err := s3.Open(o)
		if err == nil || !strings.Contains(err.Error(), want) && !strings.Contains(err.Error(), "status 403") || strings.Contains(err.Error(), o.SecretKey) || strings.Contains(err.Error(), "nobody") {
			t.Errorf("want an error with %s, got %v", want, err)
		}
	}
}

// Failed requests are repeated a few times. Errors are distinguished, and do not repeat the
// server's message.
func TestFailedRequestsAreRepeated(t *testing.T) {
	for _, c := range []struct {
		status int
		code   string
		want   error
		least  int32 // requests
		most   int32
	}{
		{403, "AccessDenied", durable.ErrUnavailable, 1, 1},
		{404, "NoSuchKey", objects.ErrNotFound, 1, 1},
		{404, "NoSuchBucket", durable.ErrUnavailable, 1, 1},
		{500, "InternalError", durable.ErrUnavailable, 2, 4},
		{503, "SlowDown", durable.ErrUnavailable, 2, 4},
		{507, "XMinioStorageFull", durable.ErrReadOnly, 1, 4},
		{507, "NoSpaceLeft", durable.ErrReadOnly, 1, 4},
		{403, "QuotaExceeded", durable.ErrReadOnly, 1, 4},
		{400, "XMinioAdminBucketQuotaExceeded", durable.ErrReadOnly, 1, 4},
		{400, "XAmzContentSHA256Mismatch", objects.ErrSum, 1, 4},
		{400, "BadDigest", objects.ErrSum, 1, 4},
		{400, "<script>" + objectstest.SecretKey, durable.ErrUnavailable, 1, 1},
	} {
		t.Run(fmt.Sprint(c.status, c.code[:8]), func(t *testing.T) {
			var asked atomic.Int32
			s, err := objectstest.Hostile(t, time.Minute, func(w http.ResponseWriter, r *http.Request) {
				if r.Method == http.MethodHead {
					return // the check that the bucket exists succeeds
				}
				asked.Add(1)
				w.Header().Set("Content-Type", "application/xml")
				w.WriteHeader(c.status)
				fmt.Fprintf(w, "<Error><Code>%s</Code><Message>%s</Message></Error>", strings.ReplaceAll(c.code, "<", "&lt;"), objectstest.SecretKey)
			})
			if err != nil {
				t.Fatal(err)
			}
			_, _, err = s.Get(t.Context(), "key", 0, -1)
			if !errors.Is(err, c.want) || strings.Contains(fmt.Sprint(err), objectstest.SecretKey) {
				t.Errorf("the error is %v", err)
			}
			if n := asked.Load(); n < c.least || n > c.most {
				t.Errorf("the server was asked %d times", n)
			}
			if err := objects.PutBytes(t.Context(), s, "key", []byte("x")); err == nil {
				t.Error("the put succeeded")
			}
		})
	}
}

func TestAServerThatDoesNotAnswerIsUnavailable(t *testing.T) {
	stop := make(chan struct{})
	var once sync.Once
	s, err := objectstest.Hostile(t, 50*time.Millisecond, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodHead && strings.Trim(r.URL.Path, "/") == objectstest.Bucket {
			once.Do(func() { <-r.Context().Done() }) // the store is opened again, as on a busy machine
			return
		}
		if r.URL.Path == "/"+objectstest.Bucket+"/half" {
			w.Header().Set("Content-Length", "10")
			w.Header().Set("Last-Modified", time.Now().UTC().Format(http.TimeFormat))
			_, _ = w.Write([]byte("half"))
			w.(http.Flusher).Flush()
		}
		select {
		case <-stop:
		case <-r.Context().Done():
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { close(stop) }) // runs before the server waits for its handlers
	_, stat := s.Stat(t.Context(), "key")
	_, _, get := s.Get(t.Context(), "key", 0, -1)
	_, half := objects.GetBytes(t.Context(), s, "half", 0, -1, 100)
	for what, err := range map[string]error{
		"stat": stat, "get": get, "half": half, "delete": s.Delete(t.Context(), "key"), "put": objects.PutBytes(t.Context(), s, "key", []byte("x")),
		"list": s.List(t.Context(), "", func(objects.Info) error { return nil }),
	} {
		if !errors.Is(err, durable.ErrUnavailable) {
			t.Errorf("%s returned %v, want ErrUnavailable", what, err)
		}
	}
}

// Keys outside the prefix are skipped, and an endless listing ends with an error.
func TestForeignKeysAreSkippedAndEndlessListingsFail(t *testing.T) {
	var forever bool
	s, err := objectstest.Hostile(t, time.Minute, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodHead {
			return
		}
		var b strings.Builder
		b.WriteString("<ListBucketResult><IsTruncated>false</IsTruncated>")
		n := 5
		if forever {
			n = 1000
		}
		for i := range n {
			fmt.Fprintf(&b, "<Contents><Key>%s</Key><LastModified>2026-01-02T03:04:05.000Z</LastModified><Size>1</Size></Contents>",
				map[bool]string{true: fmt.Sprintf("k%04d", i), false: []string{"../evil", "/abs", "a/../b", "good", "good2/../x"}[i%5]}[forever])
		}
		b.WriteString("</ListBucketResult>")
		_, _ = io.WriteString(w, b.String())
	})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	list := func() error {
		return s.List(t.Context(), "", func(i objects.Info) error { got = append(got, i.Key); return nil })
	}
	if err := list(); err != nil || len(got) != 1 || got[0] != "good" {
		t.Errorf("the listed keys are %q, %v", got, err)
	}
	if err := s.List(t.Context(), "a", func(i objects.Info) error { t.Errorf("%s does not begin with a", i.Key); return nil }); err != nil {
		t.Error(err)
	}
	forever = true
	if err := list(); !errors.Is(err, durable.ErrUnavailable) || len(got) > 1001 {
		t.Errorf("an endless listing returned %d keys, %v, want ErrUnavailable", len(got), err)
	}
}

// If the process dies during a put, no object and no part of an object remains.
func TestAnInterruptedPutLeavesNothing(t *testing.T) {
	b := objectstest.S3(t)
	ctx, die := context.WithCancel(t.Context())
	err := b.Put(ctx, "key", dying{die}, 8<<20, [32]byte{})
	if err == nil {
		t.Fatal("the interrupted put succeeded")
	}
	if got := b.Keys(t, ""); got != nil {
		t.Errorf("the remaining keys are %q", got)
	}
}

// dying is a reader of arbitrary bytes that calls die halfway through.
type dying struct{ die func() }

func (d dying) ReadAt(p []byte, at int64) (int, error) {
	if at > 4<<20 {
		d.die()
	}
	return len(p), nil
}

// Package s3 stores objects in a bucket of an S3-compatible server.
//
// Each Put is one request with the SHA-256 of its content, and the server verifies the hash. An
// object is therefore stored completely or not at all, and no partial uploads remain. Requests that
// a server temporarily refuses (5xx, 429) or does not answer are retried a few times. Each request,
// including its retries, has a timeout. If all attempts fail, the error is durable.ErrUnavailable,
// or durable.ErrReadOnly if the server is full. Errors contain the error code and the status of the
// server's response, and no other part of it.
package s3

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"strings"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"atelier/actors/durable"
	"atelier/persistence/objects"
)

// Options configures a Store. Endpoint, Bucket and the keys are required.
type Options struct {
	// Endpoint is host:port, or host.
	Endpoint string
	// Insecure selects HTTP.
	Insecure bool
	Region   string // default us-east-1
	Bucket   string
	// Prefix precedes each key. It ends with a slash, or is empty.
	Prefix string
	// AccessKey and SecretKey are the credentials. They are never printed.
	AccessKey, SecretKey string
	// Timeout is the maximum duration of a request without content, including its retries. With
	// content, the time for a transfer at 1 MiB/s is added. Default 30 s.
	Timeout time.Duration
	// Transport sends the requests. Default: a transport of this store only.
	Transport http.RoundTripper
}

const (
	// attempts is the maximum number of attempts per request.
	attempts = 4
	// slowest is the minimum rate of a transfer, in bytes per second.
	slowest = 1 << 20
	// maxAnswer bounds a response that is not an object, in bytes. A page of a listing has a
	// thousand objects and needs less than a tenth of maxAnswer.
	maxAnswer = 16 << 20
)

// Store is an objects.Store in a bucket.
type Store struct {
	opts   Options
	client minio.Core
	idle   func()
}

var _ objects.Store = (*Store)(nil)

// Open returns the store, and checks that the bucket exists.
func Open(o Options) (*Store, error) {
	o.Region = cmp.Or(o.Region, "us-east-1")
	o.Timeout = cmp.Or(o.Timeout, 30*time.Second)
	own := &http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		DialContext:         (&net.Dialer{Timeout: 5 * time.Second, KeepAlive: 15 * time.Second}).DialContext,
		TLSHandshakeTimeout: 10 * time.Second, ResponseHeaderTimeout: time.Minute, IdleConnTimeout: time.Minute,
		MaxIdleConnsPerHost: 32, DisableCompression: true,
	}
	if o.Transport == nil {
		o.Transport = own
	}
	client, err := minio.NewCore(o.Endpoint, &minio.Options{
		Creds: credentials.NewStaticV4(o.AccessKey, o.SecretKey, ""), Secure: !o.Insecure, Region: o.Region,
		Transport: bounded{o.Transport}, MaxRetries: attempts,
	})
	if err != nil {
		return nil, fmt.Errorf("open bucket %s at %s: %w", o.Bucket, o.Endpoint, err)
	}
	s := &Store{opts: o, client: *client, idle: own.CloseIdleConnections}
	ctx, cancel := context.WithTimeout(context.Background(), o.Timeout)
	defer cancel()
	there, err := client.BucketExists(ctx, o.Bucket)
	if err != nil {
		return nil, fmt.Errorf("open bucket %s at %s: %w", o.Bucket, o.Endpoint, reduced(err))
	}
	if !there {
		return nil, fmt.Errorf("the bucket %s at %s does not exist, or the credentials give no access to it", o.Bucket, o.Endpoint)
	}
	return s, nil
}

// Close closes idle connections.
func (s *Store) Close() error { s.idle(); return nil }

// bounded truncates responses that are not objects, because the client reads them into memory
// completely.
type bounded struct{ http.RoundTripper }

func (b bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := b.RoundTripper.RoundTrip(r)
	if err == nil && (r.URL.Query().Has("list-type") || resp.StatusCode >= 300) {
		resp.Body = struct {
			io.Reader
			io.Closer
		}{io.LimitReader(resp.Body, maxAnswer), resp.Body}
	}
	return resp, err
}

// during sets the timeout of a request with size bytes of content.
func (s *Store) during(ctx context.Context, size int64) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, s.limit(size))
}

func (s *Store) limit(size int64) time.Duration {
	return s.opts.Timeout + time.Duration(size/slowest)*time.Second
}

// Put implements objects.Store.
func (s *Store) Put(ctx context.Context, key string, content io.ReaderAt, size int64, sum [32]byte) error {
	if err := objects.CheckKey(key); err != nil {
		return err
	}
	ctx, cancel := s.during(ctx, size)
	defer cancel()
	// The request is signed with the sum. By default, the client would sign each chunk and omit the
	// sum.
	_, err := s.client.PutObject(ctx, s.opts.Bucket, s.opts.Prefix+key, io.NewSectionReader(content, 0, size), size, "", hex.EncodeToString(sum[:]),
		minio.PutObjectOptions{ContentType: "application/octet-stream", DisableContentSha256: true})
	return classify("put", key, err)
}

// Get implements objects.Store.
func (s *Store) Get(ctx context.Context, key string, from, n int64) (io.ReadCloser, int64, error) {
	if err := objects.CheckKey(key); err != nil {
		return nil, 0, err
	}
	if from < 0 {
		return nil, 0, fmt.Errorf("%w: %s", objects.ErrRange, key)
	}
	var opts minio.GetObjectOptions
	if from > 0 || n > 0 {
		end := int64(0) // 0 means up to the end of the object
		if n > 0 {
			end = from + n - 1
		}
		if err := opts.SetRange(from, end); err != nil {
			return nil, 0, fmt.Errorf("%w: %s", objects.ErrRange, key)
		}
	}
	ctx, cancel := context.WithCancel(ctx)
	// The timeout is extended once the size of the content is known.
	timer := time.AfterFunc(s.opts.Timeout, cancel)
	r, info, _, err := s.client.GetObject(ctx, s.opts.Bucket, s.opts.Prefix+key, opts)
	if err != nil {
		timer.Stop()
		cancel()
		return nil, 0, classify("get", key, err)
	}
	size := info.Size
	if n >= 0 && size > n {
		size = n // a server without range support can return other bytes, which do not match the sum
	}
	timer.Reset(s.limit(max(size, 0)))
	return &body{io.LimitReader(r, max(size, 0)), r, func() { timer.Stop(); cancel() }}, size, nil
}

// body is the received part of an object. If the transfer is cut off, Read returns
// io.ErrUnexpectedEOF, so that callers retry.
type body struct {
	r     io.Reader
	c     io.Closer
	ended func()
}

func (b *body) Read(p []byte) (int, error) {
	n, err := b.r.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = fmt.Errorf("%w: %w: the transfer was interrupted", durable.ErrUnavailable, io.ErrUnexpectedEOF)
	}
	return n, err
}

func (b *body) Close() error {
	b.ended()
	_ = b.c.Close() // the transfer is abandoned, so its error does not matter
	return nil
}

// Stat implements objects.Store.
func (s *Store) Stat(ctx context.Context, key string) (objects.Info, error) {
	if err := objects.CheckKey(key); err != nil {
		return objects.Info{}, err
	}
	ctx, cancel := s.during(ctx, 0)
	defer cancel()
	info, err := s.client.StatObject(ctx, s.opts.Bucket, s.opts.Prefix+key, minio.StatObjectOptions{})
	if err != nil {
		return objects.Info{}, classify("stat", key, err)
	}
	return objects.Info{Key: key, Size: info.Size, Changed: info.LastModified}, nil
}

// List implements objects.Store.
func (s *Store) List(ctx context.Context, prefix string, fn func(objects.Info) error) error {
	if err := objects.CheckPrefix(prefix); err != nil {
		return err
	}
	for after := ""; ; {
		page, more, err := s.page(ctx, prefix, after)
		if err != nil {
			return classify("list", prefix, err)
		}
		for _, o := range page {
			key, ours := strings.CutPrefix(o.Key, s.opts.Prefix)
			if o.Key <= after {
				// A server that starts the listing over would otherwise cause an endless loop.
				return fmt.Errorf("%w: list %s: the server does not list in order", durable.ErrUnavailable, prefix)
			}
			after = o.Key
			if !ours || !strings.HasPrefix(key, prefix) || objects.CheckKey(key) != nil {
				continue // not an object of this store
			}
			if err := fn(objects.Info{Key: key, Size: o.Size, Changed: o.LastModified}); err != nil {
				return err
			}
		}
		if !more || len(page) == 0 {
			return nil
		}
	}
}

// page lists the next objects whose keys follow after. Each page has its own timeout, because the
// caller can take long to handle the objects of a page.
func (s *Store) page(ctx context.Context, prefix, after string) (page []minio.ObjectInfo, more bool, err error) {
	ctx, cancel := s.during(ctx, 0)
	defer cancel()
	for o := range s.client.ListObjectsIter(ctx, s.opts.Bucket, minio.ListObjectsOptions{
		Prefix: s.opts.Prefix + prefix, StartAfter: after, Recursive: true, MaxKeys: pageKeys,
	}) {
		if o.Err != nil {
			return nil, false, o.Err
		}
		if page = append(page, o); len(page) == pageKeys {
			return page, true, nil
		}
	}
	return page, false, nil
}

const pageKeys = 1000

// Delete implements objects.Store.
func (s *Store) Delete(ctx context.Context, key string) error {
	if err := objects.CheckKey(key); err != nil {
		return err
	}
	ctx, cancel := s.during(ctx, 0)
	defer cancel()
	return classify("delete", key, s.client.RemoveObject(ctx, s.opts.Bucket, s.opts.Prefix+key, minio.RemoveObjectOptions{}))
}

// classify converts an error of the S3 client to an error of package objects or durable.
func classify(what, key string, err error) error {
	if err == nil {
		return nil
	}
	var answer minio.ErrorResponse
	if !errors.As(err, &answer) {
		if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
			err = errors.New("the server did not answer in time")
		}
		return fmt.Errorf("%w: S3: %s %s: %w", durable.ErrUnavailable, what, key, err)
	}
	switch {
	case answer.Code == minio.NoSuchKey:
		return fmt.Errorf("%w: %s %s", objects.ErrNotFound, what, key)
	case answer.StatusCode == http.StatusRequestedRangeNotSatisfiable:
		return fmt.Errorf("%w: %s", objects.ErrRange, key)
	case answer.Code == "XAmzContentSHA256Mismatch", answer.Code == "BadDigest":
		return fmt.Errorf("%w: %s %s", objects.ErrSum, what, key)
	case answer.StatusCode == http.StatusInsufficientStorage, full[answer.Code]:
		return fmt.Errorf("%w: S3: %s %s: %w", durable.ErrReadOnly, what, key, reduced(err))
	}
	return fmt.Errorf("%w: S3: %s %s: %w", durable.ErrUnavailable, what, key, reduced(err))
}

// full contains the error codes of full servers.
var full = map[string]bool{"XMinioStorageFull": true, "QuotaExceeded": true, "XMinioAdminBucketQuotaExceeded": true, "InsufficientCapacity": true, "StorageFull": true}

var codeForm = regexp.MustCompile(`^[A-Za-z0-9.]{1,64}$`)

// reduced reduces an error to the code and the status of the server's response, because the rest of
// the response can repeat the request.
func reduced(err error) error {
	var answer minio.ErrorResponse
	if !errors.As(err, &answer) {
		return err
	}
	code := answer.Code
	if !codeForm.MatchString(code) {
		code = "an error"
	}
	return fmt.Errorf("the server answers %s (status %d)", code, answer.StatusCode)
}

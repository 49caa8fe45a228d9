package config

import (
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// Files is the configuration section of uploads and their store.
type Files struct {
	Store string   `toml:"store" doc:"Location of file contents and code. \"\" is the data folder; \"folder:/shared/path\" and \"s3://bucket?endpoint=https://host:9000&region=r\" are shared by several servers. The keys of a bucket are in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY. Endpoints with http:// must be on this machine."`
	Grace Duration `toml:"grace" min:"1m" doc:"Age at which an unreferenced file is removed; at least 1h in a shared store. Deleting the last reference removes the file at once; in a shared store, at the earliest an hour after its upload."`
}

// FileStore is the parsed value of files.store. The zero value is the data folder.
type FileStore struct {
	// Folder is the path of a folder, or "".
	Folder string
	// Bucket is the name of an S3 bucket, or "".
	Bucket string
	// Prefix precedes all keys in the bucket. It ends with a slash, or is empty.
	Prefix string
	// Endpoint is the host of the server, with its port if one is given.
	Endpoint string
	// Insecure selects HTTP, which is allowed only if the server is on this machine.
	Insecure bool
	// Region is the region of the bucket, or "".
	Region string
}

// Shared reports whether several nodes can use the store.
func (s FileStore) Shared() bool { return s != (FileStore{}) }

var (
	bucketForm = regexp.MustCompile(`^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$`)
	prefixForm = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]*(/[a-z0-9][a-z0-9._-]*)*$`)
	regionForm = regexp.MustCompile(`^[a-z0-9-]{1,64}$`)
)

// errKeys is the error for credentials in files.store.
var errKeys = errors.New("contains a user or password; put the keys in the environment variables AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY")

// FileStore parses files.store. Its errors do not repeat the value, which can be a secret.
func (f Files) FileStore() (FileStore, error) {
	s, err := parseFileStore(f.Store)
	if err != nil {
		return FileStore{}, fmt.Errorf("files.store %w", err)
	}
	return s, nil
}

func parseFileStore(text string) (FileStore, error) {
	if text == "" {
		return FileStore{}, nil
	}
	if path, ok := strings.CutPrefix(text, "folder:"); ok {
		if !filepath.IsAbs(path) || filepath.Clean(path) == "/" {
			return FileStore{}, errors.New("needs an absolute path, as in folder:/shared/path")
		}
		return FileStore{Folder: filepath.Clean(path)}, nil
	}
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "s3" {
		return FileStore{}, errors.New(`must be "", folder:/shared/path or s3://bucket?endpoint=https://host:9000&region=r`)
	}
	if u.User != nil {
		return FileStore{}, errKeys
	}
	q, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return FileStore{}, errors.New("has a malformed query")
	}
	for name, values := range q {
		if name != "endpoint" && name != "region" {
			return FileStore{}, errors.New("has a parameter other than endpoint and region; put keys in the environment variables AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY")
		}
		if len(values) > 1 {
			return FileStore{}, fmt.Errorf("has %s twice", name)
		}
	}
	if !bucketForm.MatchString(u.Host) || u.Fragment != "" {
		return FileStore{}, errors.New("needs the name of a bucket, as in s3://bucket")
	}
	s := FileStore{Bucket: u.Host, Region: q.Get("region")}
	if s.Region != "" && !regionForm.MatchString(s.Region) {
		return FileStore{}, errors.New("has a malformed region; a valid region looks like us-east-1")
	}
	if path := strings.Trim(u.Path, "/"); path != "" {
		if len(path) > 200 || !prefixForm.MatchString(path) {
			return FileStore{}, errors.New("has a malformed path; its parts are lower-case letters, digits, dots, dashes and underscores, and begin with a letter or digit")
		}
		s.Prefix = path + "/"
	}
	err = s.endpoint(q.Get("endpoint"))
	return s, err
}

func (s *FileStore) endpoint(text string) error {
	e, err := url.Parse(text)
	if err != nil || e.Scheme != "https" && e.Scheme != "http" || e.Hostname() == "" || strings.Trim(e.Path, "/")+e.RawQuery+e.Fragment != "" {
		if e != nil && e.User != nil {
			return errKeys
		}
		return errors.New("needs endpoint=https://host:9000, without a path")
	}
	if e.User != nil {
		return errKeys
	}
	if e.Scheme == "http" && !loopback(e.Hostname()) {
		return errors.New("has an endpoint with http:// on another machine, so uploads would cross the network unencrypted; use https://")
	}
	s.Endpoint, s.Insecure = e.Host, e.Scheme == "http"
	return nil
}

// leastSharedGrace is the minimum grace period of a shared store. Other servers need time to record
// the files that they have stored.
const leastSharedGrace = Duration(time.Hour)

func (f Files) check(bad, warn func(format string, args ...any)) {
	s, err := f.FileStore()
	if err != nil {
		bad("%v", err)
		return
	}
	if s.Shared() && f.Grace < leastSharedGrace {
		bad("files.grace must be at least 1h if files.store is shared, so that other servers can record the files that they have stored")
	}
	if s.Insecure {
		warn("files.store uses HTTP to a server on this machine: any program that listens at that address can read the files")
	}
}

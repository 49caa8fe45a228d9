package config

import (
	"strings"
	"testing"
	"time"
)

func TestTheFileStoreIsParsedFromItsAddress(t *testing.T) {
	for text, want := range map[string]FileStore{
		"":                                  {},
		"folder:/mnt/shared/":               {Folder: "/mnt/shared"},
		"s3://bucket?endpoint=https://host": {Bucket: "bucket", Endpoint: "host"},
		"s3://my.bucket/at/elier?endpoint=https://host:9000&region=eu-1": {Bucket: "my.bucket", Prefix: "at/elier/", Endpoint: "host:9000", Region: "eu-1"},
		"s3://bucket?endpoint=http://127.0.0.1:9000":                     {Bucket: "bucket", Endpoint: "127.0.0.1:9000", Insecure: true},
		"s3://bucket?endpoint=http://[::1]:9000":                         {Bucket: "bucket", Endpoint: "[::1]:9000", Insecure: true},
	} {
		got, err := Files{Store: text}.FileStore()
		if got != want || err != nil || got.Shared() != (text != "") {
			t.Errorf("%s is parsed as %+v, %v", text, got, err)
		}
	}
	const secret = "hidden"
	for _, text := range []string{
		"/path", "folder:", "folder:path", "folder:/", "folder:../x", "s3:bucket", "s3://", "s3://bucket", "S4://bucket", "s3://b?endpoint=https://host", "s3://UPPER?endpoint=https://host",
		"s3://bucket?endpoint=host:9000", "s3://bucket?endpoint=ftp://host", "s3://bucket?endpoint=https://host/path", "s3://bucket?endpoint=https://", "s3://bucket?endpoint=https://host?x",
		"s3://bucket?endpoint=http://host:9000", "s3://bucket?endpoint=http://10.0.0.1", "s3://bucket?endpoint=http://127.0.0.1.example.org",
		"s3://bucket/../x?endpoint=https://host", "s3://bucket/A?endpoint=https://host", "s3://bucket?endpoint=https://host&region=a b", "s3://bucket?endpoint=https://host&endpoint=https://other",
		"s3://key:" + secret + "@bucket?endpoint=https://host", "s3://bucket?endpoint=https://key:" + secret + "@host", "s3://bucket?endpoint=https://host&secret=" + secret,
		"s3://bucket?endpoint=https://key:" + secret + "@host/path", "s3://bucket?endpoint=%zz" + secret,
	} {
		c := Default()
		c.Files.Store = text
		_, err := c.Check()
		if err == nil || !strings.Contains(err.Error(), "files.store") || strings.Contains(err.Error(), secret) {
			t.Errorf("an invalid store %s: got the error %v", text, err)
		}
	}
}

func TestASharedStoreNeedsAGracePeriod(t *testing.T) {
	c := Default()
	c.Files.Grace = Duration(59 * time.Minute)
	if _, err := c.Check(); err != nil {
		t.Error(err)
	}
	c.Files.Store = "folder:/shared"
	if _, err := c.Check(); err == nil || !strings.Contains(err.Error(), "files.grace") {
		t.Errorf("a shared store with a grace period of 59 minutes returned %v, want an error", err)
	}
	c, err := Load("", []string{"ATELIER_FILES_STORE=s3://bucket?endpoint=http://127.0.0.1:1"})
	if err != nil {
		t.Fatal(err)
	}
	if warnings, err := c.Check(); err != nil || len(warnings) != 1 || !strings.Contains(warnings[0], "files.store") {
		t.Errorf("the warnings are %q, %v", warnings, err)
	}
}

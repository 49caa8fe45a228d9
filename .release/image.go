package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// person is the id of the user and group that run the server in a container.
const person = 65532

// images makes an image for each processor, for "docker load", with its bill of materials. It also
// makes an archive with an OCI layout, which contains all images, for registries.
func (r *release) images(found *parts) error {
	all := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, machine := range r.machines() {
		img, err := r.image(machine)
		if err != nil {
			return err
		}
		all = mutate.AppendManifests(all, mutate.IndexAddendum{Add: img,
			Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: "linux", Architecture: machine}}})
		entries, err := r.loadable(img)
		if err != nil {
			return err
		}
		name := fmt.Sprintf("atelier-%s-image-linux-%s", r.version, machine)
		if err := r.create(name+".tar", func(w io.Writer) error { return writeTar(w, r.date, entries) }); err != nil {
			return err
		}
		if err := r.bill(found, "linux/"+machine, "atelier", name+".cdx.json", found.roots); err != nil {
			return fmt.Errorf("bill of materials of the image: %w", err)
		}
	}
	return r.layout(all)
}

// loadable returns the archive of an image for "docker load". The library can write such an
// archive, too, but it writes the tags in random order, so its bytes differ each time.
func (r *release) loadable(img v1.Image) (entries []entry, err error) {
	manifest := struct {
		Config           string
		RepoTags, Layers []string
	}{RepoTags: []string{"atelier:" + r.tag(), "atelier:latest"}}
	config, err := img.RawConfigFile()
	if err != nil {
		return nil, err
	}
	name, err := img.ConfigName()
	if err != nil {
		return nil, err
	}
	manifest.Config = name.Hex + ".json"
	entries = append(entries, entry{name: manifest.Config, mode: 0o644, text: config})
	layers, err := img.Layers()
	if err != nil {
		return nil, err
	}
	for _, l := range layers {
		digest, err := l.Digest()
		if err != nil {
			return nil, err
		}
		compressed, err := l.Compressed()
		if err != nil {
			return nil, err
		}
		content, err := io.ReadAll(compressed)
		if err = errors.Join(err, compressed.Close()); err != nil {
			return nil, err
		}
		manifest.Layers = append(manifest.Layers, digest.Hex+".tar.gz")
		entries = append(entries, entry{name: digest.Hex + ".tar.gz", mode: 0o644, text: content})
	}
	text, err := json.Marshal([]any{manifest})
	return append(entries, entry{name: "manifest.json", mode: 0o644, text: text}), err
}

// tag returns the version in a form that is allowed for tags.
func (r *release) tag() string { return strings.ReplaceAll(r.version, "+", "-") }

func (r *release) layout(all v1.ImageIndex) error {
	dir := filepath.Join(r.work, "layout")
	top := mutate.AppendManifests(empty.Index, mutate.IndexAddendum{Add: all, Descriptor: v1.Descriptor{
		Annotations: map[string]string{"org.opencontainers.image.ref.name": r.tag(), "io.containerd.image.name": "docker.io/library/atelier:" + r.tag()}}})
	if _, err := layout.Write(dir, top); err != nil {
		return err
	}
	var entries []entry
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if d.IsDir() {
			entries = append(entries, entry{name: name + "/", mode: 0o755})
		} else {
			entries = append(entries, entry{name: name, mode: 0o644, file: path})
		}
		return err
	})
	if err != nil {
		return err
	}
	return r.create(fmt.Sprintf("atelier-%s-image.tar", r.version), func(w io.Writer) error { return writeTar(w, r.date, entries) })
}

// image returns an image without a base image. It contains the server, the root certificates, and
// the files that programs expect on every system.
func (r *release) image(machine string) (v1.Image, error) {
	var content bytes.Buffer
	err := writeTar(&content, r.date, []entry{
		{name: "etc/", mode: 0o755},
		{name: "etc/group", mode: 0o644, text: fmt.Appendf(nil, "root:x:0:\natelier:x:%d:\n", person)},
		{name: "etc/passwd", mode: 0o644, text: fmt.Appendf(nil, "root:x:0:0:root:/:/sbin/nologin\natelier:x:%d:%d::/data:/sbin/nologin\n", person, person)},
		{name: "etc/ssl/", mode: 0o755},
		{name: "etc/ssl/certs/", mode: 0o755},
		{name: "etc/ssl/certs/ca-certificates.crt", mode: 0o644, text: roots()},
		{name: "tmp/", mode: 0o1777},
		{name: "usr/", mode: 0o755},
		{name: "usr/local/", mode: 0o755},
		{name: "usr/local/bin/", mode: 0o755},
		{name: "usr/local/bin/atelier", mode: 0o755, file: r.program("linux/"+machine, "atelier")},
		{name: "usr/share/", mode: 0o755},
		{name: "usr/share/doc/", mode: 0o755},
		{name: "usr/share/doc/atelier/", mode: 0o755},
		{name: "usr/share/doc/atelier/LICENSE", mode: 0o644, file: filepath.Join(r.root, "LICENSE")},
		{name: "usr/share/doc/atelier/NOTICE", mode: 0o644, file: r.artifact("NOTICE")},
		// A new volume takes the owner and mode of this folder.
		{name: "data/", mode: 0o700, owner: person},
		// This folder is for files.store = "folder:/shared", with which several nodes share files.
		{name: "shared/", mode: 0o700, owner: person},
	})
	if err != nil {
		return nil, err
	}
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(content.Bytes())), nil },
		tarball.WithMediaType(types.OCILayer), tarball.WithCompressionLevel(gzip.BestCompression), tarball.WithCompressedCaching)
	if err != nil {
		return nil, err
	}
	img := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	if img, err = mutate.ConfigFile(img, r.imageConfig(machine)); err != nil {
		return nil, err
	}
	return mutate.Append(img, mutate.Addendum{Layer: layer, MediaType: types.OCILayer,
		History: v1.History{Created: v1.Time{Time: r.date}, CreatedBy: "make release"}})
}

// imageConfig returns the configuration of a container, the same as in
// cmd/atelier/deploy/Dockerfile.
func (r *release) imageConfig(machine string) *v1.ConfigFile {
	return &v1.ConfigFile{
		Architecture: machine, OS: "linux", Created: v1.Time{Time: r.date},
		RootFS: v1.RootFS{Type: "layers"},
		Config: v1.Config{
			User:       fmt.Sprintf("%d:%d", person, person),
			WorkingDir: "/",
			// The internal listener stays on loopback inside the container; publish it
			// only to your monitoring, with ATELIER_SERVER_INTERNAL_LISTEN.
			Env: []string{"PATH=/usr/local/bin", "SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt",
				"ATELIER_SERVER_LISTEN=0.0.0.0:8080", "ATELIER_SERVER_DATA=/data"},
			Entrypoint:   []string{"/usr/local/bin/atelier"},
			Cmd:          []string{"serve"},
			Volumes:      map[string]struct{}{"/data": {}},
			ExposedPorts: map[string]struct{}{"8080/tcp": {}},
			StopSignal:   "SIGTERM",
			Healthcheck: &v1.HealthConfig{Test: []string{"CMD", "/usr/local/bin/atelier", "health"},
				Interval: 10 * time.Second, Timeout: 6 * time.Second, StartPeriod: time.Minute},
			Labels: map[string]string{
				"org.opencontainers.image.title":       "atelier",
				"org.opencontainers.image.description": "server for live workshops",
				"org.opencontainers.image.version":     r.version,
				"org.opencontainers.image.revision":    r.commit,
				"org.opencontainers.image.created":     r.date.Format(time.RFC3339),
				"org.opencontainers.image.licenses":    "MIT",
			},
		},
	}
}

// roots returns the certificates that Mozilla trusts without a condition. They come from a Go
// module, so they are the same on each machine.
func roots() []byte {
	var out bytes.Buffer
	for root := range bundle.Roots() {
		if root.Constraint == nil {
			_ = pem.Encode(&out, &pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate}) // in memory, so this cannot fail
		}
	}
	return out.Bytes()
}

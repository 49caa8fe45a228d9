package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// entry is a file of an archive, or a folder if its name ends in a slash. The content is read from
// file. If file is empty, the content is text.
type entry struct {
	name  string
	mode  int64
	owner int // id of the user and the group
	file  string
	text  []byte
}

// writeTar writes entries in their order, all with the same time.
func writeTar(w io.Writer, date time.Time, entries []entry) error {
	out := tar.NewWriter(w)
	for _, e := range entries {
		if err := writeEntry(out, date, e); err != nil {
			return fmt.Errorf("%s: %w", e.name, err)
		}
	}
	return out.Close()
}

func writeEntry(out *tar.Writer, date time.Time, e entry) error {
	h := &tar.Header{Name: e.name, Mode: e.mode, Uid: e.owner, Gid: e.owner, ModTime: date, Format: tar.FormatPAX, Typeflag: tar.TypeReg}
	if strings.HasSuffix(e.name, "/") {
		h.Typeflag = tar.TypeDir
		return out.WriteHeader(h)
	}
	var content io.Reader = bytes.NewReader(e.text)
	h.Size = int64(len(e.text))
	if e.file != "" {
		f, err := os.Open(e.file)
		if err != nil {
			return err
		}
		defer f.Close()
		info, err := f.Stat()
		if err != nil {
			return err
		}
		content, h.Size = f, info.Size()
	}
	if err := out.WriteHeader(h); err != nil {
		return err
	}
	_, err := io.Copy(out, content)
	return err
}

// samples lists the files of cmd/atelier/deploy that an operator of a server can use.
var samples = []string{
	"Caddyfile", "nginx.conf", "compose.yml", "prometheus.yml", "alerts.yml", "grafana-dashboard.json",
	"cluster/Caddyfile", "cluster/atelier-cluster.conf", "cluster/compose.yml", "cluster/config.toml",
	"cluster/haproxy.cfg", "cluster/nginx.conf", "cluster/node.env",
	"samples/README.md", "samples/plain.md", "samples/claat.md",
	"samples/folder/codelab.md", "samples/folder/commands.txt", "samples/folder/pictures/parts.png",
}

// units lists the systemd units in cmd/atelier/deploy.
var units = []string{"atelier.service", "atelier-backup.service", "atelier-backup.timer"}

func (r *release) deploy(name string) string {
	return filepath.Join(r.root, "cmd/atelier/deploy", name)
}

// archives makes an archive and a bill of materials of each program for each platform.
func (r *release) archives(found *parts) error {
	for _, platform := range r.platforms {
		for _, program := range programs {
			if !has(platform, program) {
				continue
			}
			name := fmt.Sprintf("%s-%s-%s", program, r.version, strings.ReplaceAll(platform, "/", "-"))
			entries := []entry{
				{name: program, mode: 0o755, file: r.program(platform, program)},
				{name: "LICENSE", mode: 0o644, file: filepath.Join(r.root, "LICENSE")},
				{name: "NOTICE", mode: 0o644, file: r.artifact("NOTICE")},
			}
			if readme := filepath.Join(r.root, "cmd", program, "README.md"); exists(readme) {
				entries = append(entries, entry{name: "README.md", mode: 0o644, file: readme})
			}
			if program == "atelier" {
				entries = append(entries, entry{name: "config.toml", mode: 0o644, file: filepath.Join(r.root, "config.toml")},
					entry{name: "CHANGELOG.md", mode: 0o644, file: filepath.Join(r.root, "CHANGELOG.md")},
					entry{name: "deploy/", mode: 0o755})
				for _, sample := range slices.Concat(samples, units) {
					entries = append(entries, entry{name: "deploy/" + sample, mode: 0o644, file: r.deploy(sample)})
				}
			}
			if err := unlink(entries); err != nil {
				return err
			}
			for i := range entries {
				entries[i].name = name + "/" + entries[i].name
			}
			entries = append([]entry{{name: name + "/", mode: 0o755}}, entries...)
			if err := r.writeArchive(name+".tar.gz", entries); err != nil {
				return err
			}
			if err := r.bill(found, platform, program, name+".cdx.json"); err != nil {
				return fmt.Errorf("bill of materials of %s: %w", program, err)
			}
		}
	}
	return nil
}

// linkOrCode also matches code, so that withLinks leaves brackets in code as they are.
var linkOrCode = regexp.MustCompile("(?s)```.*?```|`[^`]*`|" + `\[((?:[^\][]|\[[^\]]*\])*)\]\(([^()\s]+)\)`)

// unlink replaces links to files that are not among the entries with the text of the link. Such a
// link would be broken for a reader of the archive.
func unlink(entries []entry) error {
	included := map[string]bool{}
	for _, e := range entries {
		included[strings.TrimSuffix(e.name, "/")] = true
	}
	for i, e := range entries {
		if path.Ext(e.name) != ".md" {
			continue
		}
		text, err := os.ReadFile(e.file)
		if err != nil {
			return err
		}
		entries[i].file, entries[i].text = "", withLinks(text, func(to string) bool { return included[path.Join(path.Dir(e.name), to)] })
	}
	return nil
}

// withLinks keeps links with a scheme, links within the page, and links to files for which included
// returns true. It replaces every other link with its text.
func withLinks(page []byte, included func(string) bool) []byte {
	return linkOrCode.ReplaceAllFunc(page, func(link []byte) []byte {
		m := linkOrCode.FindSubmatch(link)
		file, _, _ := strings.Cut(string(m[2]), "#")
		if m[2] == nil || file == "" || strings.Contains(file, ":") || included(file) {
			return link
		}
		return m[1]
	})
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// artifact returns the path of a file in the target folder.
func (r *release) artifact(name string) string { return filepath.Join(r.into, name) }

func (r *release) writeArchive(name string, entries []entry) error {
	return r.create(name, func(w io.Writer) error {
		return zipped(w, func(w io.Writer) error { return writeTar(w, r.date, entries) })
	})
}

// zipped compresses everything that write writes, and passes it to w.
func zipped(w io.Writer, write func(io.Writer) error) error {
	z, err := gzip.NewWriterLevel(w, gzip.BestCompression)
	if err == nil {
		err = write(z)
	}
	if err != nil {
		return err
	}
	return z.Close()
}

// create writes a new artifact. It fails if the file exists.
func (r *release) create(name string, write func(io.Writer) error) error {
	f, err := os.OpenFile(r.artifact(name), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := write(f); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return f.Close()
}

package acceptance

import (
	"bytes"
	"compress/gzip"
	"encoding/csv"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"atelier/cmd/atelier/config"
	"atelier/cmd/atelier/service"
	"atelier/persistence/postgres/postgrestest"
	"atelier/transport/ai/upstream/upstreamtest"
	"atelier/transport/auth"
)

// Each release leaves a data folder in which every feature was used, a backup of it, and the REST
// responses for both. testdata/README.md describes when they are made.
var writeRelease = flag.String("write-release", "", "version of a release, such as 1.0; its folder, backup and responses are written to testdata")

// keptRelease describes the folder of a release.
type keptRelease struct {
	People []keptPerson `json:"people"` // the first person attends the codelab that has an object of every kind
	// Facilitator is the owner's session cookie.
	Facilitator string       `json:"facilitator"`
	APIToken    string       `json:"api_token"`
	Markets     []keptMarket `json:"markets"`
	// Answers are the responses of the folder. Restored are the responses of its backup in
	// another folder.
	Answers  []keptAnswer `json:"answers"`
	Restored []keptAnswer `json:"restored"`
}

// keptAnswer is the response to a GET. It contains the content of JSON and CSV responses, and only
// the status of others. varies replaces each value that changed within a minute.
type keptAnswer struct {
	Path   string `json:"path"`
	As     string `json:"as"` // see callers
	Status int    `json:"status"`
	Type   string `json:"type"`
	Body   any    `json:"body,omitempty"`
}

// These are the callers of a request.
const (
	askOwner    = "owner"
	askAttendee = "attendee"
	askNobody   = "nobody"
)

// passphraseOfReleases encrypts the secrets in the stored backups.
const passphraseOfReleases = "nothing in it opens anything"

// The test opens the data of each release with the current program. Every response must be the same
// as with the release, except for additional fields.
func TestReleasesOpen(t *testing.T) {
	t.Parallel()
	if *writeRelease != "" {
		makeRelease(t, "testdata/release-"+*writeRelease)
	}
	folders, err := filepath.Glob("testdata/release-*.tar.gz")
	if err != nil || len(folders) == 0 {
		t.Fatalf("there is no folder of a release: %v", err)
	}
	for _, packed := range folders {
		name := strings.TrimSuffix(packed, ".tar.gz")
		r := readRelease(t, name)
		t.Run(filepath.Base(name), func(t *testing.T) {
			data := t.TempDir()
			unpack(t, packed, data)
			addr := serveRelease(t, releaseConfig(t, data))
			reportDifferences(t, withoutAll(r.Answers, r.ask(t, addr, r.Answers)))
			for _, p := range r.People {
				p.comesBack(t, addr)
			}
			for _, m := range r.Markets {
				m.opens(t, addr)
			}
			robot := open(t, addr)
			robot.token = r.APIToken
			robot.get("/admin/participants").want(200)
		})
		// To undo an update, an operator restores the backup into a new folder.
		t.Run(filepath.Base(name)+" from its backup", func(t *testing.T) {
			inLongRuns(t, "deriving a key from a passphrase takes seconds")
			addr := serveRelease(t, restoreRelease(t, name))
			r.restoredAt(t, addr)
		})
		t.Run(filepath.Base(name)+" from its database", func(t *testing.T) {
			r.restoredAt(t, serveRelease(t, loadRelease(t, name)))
		})
	}
}

// restoredAt verifies that a server has the content of a release's backup.
func (r keptRelease) restoredAt(t *testing.T, addr string) {
	t.Helper()
	reportDifferences(t, withoutAll(r.Restored, r.ask(t, addr, r.Restored)))
	for _, p := range r.People {
		p.Session = "" // the restored server did not create this session
		p.comesBack(t, addr)
	}
}

func readRelease(t *testing.T, name string) (r keptRelease) {
	t.Helper()
	f, err := os.Open(name + ".json.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err == nil {
		err = json.NewDecoder(z).Decode(&r)
	}
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// releaseConfig has no rate limits, because the test sends hundreds of requests in a short time.
func releaseConfig(t *testing.T, data string) config.Config {
	cfg := formatConfig(data)
	cfg.Limits.WritesPerMinute, cfg.Limits.UploadsPerMinute, cfg.Limits.QuestionsSeconds, cfg.Limits.ChecksPerMinute = 0, 0, 0, 0
	cfg.Limits.ReadsPerMinute, cfg.Limits.GitPerMinute = 0, 0
	cfg.AI.BaseURL = upstreamtest.New(t).URL
	cfg.Webhooks.AllowPrivate = true
	return cfg
}

func serveRelease(t *testing.T, cfg config.Config) (addr string) {
	t.Helper()
	s := startOnFormat(t, cfg)
	t.Cleanup(func() {
		if err := s.Stop(); err != nil {
			t.Error(err)
		}
	})
	return s.Addr()
}

// restoreRelease restores the backup of a release into a new folder.
func restoreRelease(t *testing.T, name string) config.Config {
	t.Helper()
	cfg := releaseConfig(t, t.TempDir())
	restoreInto(t, cfg, name)
	return cfg
}

func restoreInto(t *testing.T, cfg config.Config, name string) {
	t.Helper()
	err := onceItCan(func() error {
		f, err := os.Open(name + ".backup.gz")
		if err != nil {
			return err
		}
		defer f.Close()
		backup, err := gzip.NewReader(f)
		if err != nil {
			return err
		}
		return service.Restore(cfg, backup, passphraseOfReleases)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// dumped is the name of the database dump in a release's node data, next to the node's folder and
// the store of files.
const dumped = "database.sql"

// onDatabase is the configuration of one node that keeps its files below a folder.
func onDatabase(t *testing.T, data string) config.Config {
	t.Helper()
	return nodeConfigs(t, 1, postgrestest.Database(t), releaseConfig(t, data))[0]
}

// loadRelease loads the database and the folders of a release's node.
func loadRelease(t *testing.T, name string) config.Config {
	t.Helper()
	psql, data := program(t, "psql"), t.TempDir()
	unpack(t, name+".node.tgz", data)
	cfg := onDatabase(t, data)
	load := exec.Command(psql, "--quiet", "--no-psqlrc", "--set", "ON_ERROR_STOP=1", "--file", filepath.Join(data, dumped), string(cfg.Storage.Postgres))
	if out, err := load.CombinedOutput(); err != nil {
		t.Fatalf("psql: %v\n%.2000s", err, out)
	}
	return cfg
}

// ask repeats the requests of the wanted responses.
func (r keptRelease) ask(t *testing.T, addr string, wanted []keptAnswer) (out []keptAnswer) {
	t.Helper()
	who := map[string]*browser{askOwner: open(t, addr), askAttendee: open(t, addr), askNobody: open(t, addr)}
	who[askOwner].setCookie(auth.SessionCookie, r.Facilitator)
	who[askAttendee].setCookie(auth.SessionCookie, r.People[0].Session)
	if who[askOwner].get("/session").status != 200 { // the restored server did not create this session
		who[askOwner].login("")
		p := r.People[0]
		who[askAttendee].post("/codelabs/"+p.Codelab+"/register", record{"name": p.Name, "code": p.Code}).want(200)
	}
	for _, a := range wanted {
		got := who[a.As].get(a.Path)
		kind, _, _ := strings.Cut(got.header.Get("Content-Type"), ";")
		again := keptAnswer{Path: a.Path, As: a.As, Status: got.status, Type: kind}
		if got.status < 400 { // the text of an error can change
			again.Body = content(t, kind, got.body)
		}
		out = append(out, again)
	}
	return out
}

// content returns the comparable part of a body: JSON, or the rows of a table by column name.
func content(t *testing.T, kind string, body []byte) (out any) {
	t.Helper()
	switch kind {
	case "application/json":
		if err := json.Unmarshal(body, &out); err != nil {
			t.Fatalf("the response is not JSON: %v: %.200s", err, body)
		}
	case "text/csv":
		rows, err := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(body, []byte("\ufeff")))).ReadAll()
		if err != nil || len(rows) == 0 {
			t.Fatalf("reading the table: %v: %.200s", err, body)
		}
		table := []any{}
		for _, row := range rows[1:] {
			line := map[string]any{}
			for i, cell := range row {
				line[rows[0][i]] = cell
			}
			table = append(table, line)
		}
		return table
	}
	return out
}

// withoutAll lists the fields of the wanted responses that are missing or different in got.
func withoutAll(want, got []keptAnswer) (out []string) {
	for i, w := range want {
		at := fmt.Sprintf("GET %s as %s", w.Path, w.As)
		if g := got[i]; w.Status != g.Status || w.Type != g.Type {
			out = append(out, fmt.Sprintf("%s: %d %s, was %d %s", at, g.Status, g.Type, w.Status, w.Type))
			continue
		}
		out = append(out, differ(at, w.Body, got[i].Body, false)...)
	}
	return out
}

// The comparison of releases reports missing fields, unless they were empty or 0. It ignores
// additional fields.
func TestMissingMembersOfResponsesAreFound(t *testing.T) {
	t.Parallel()
	was := asJSON(record{"name": "Lin", "zero": 0, "list": []int{1, 2}, "of": record{"x": 1}, "now": varies})
	for what, c := range map[string]struct {
		is    record
		found int
	}{
		"the same":         {record{"name": "Lin", "zero": 0, "list": []int{1, 2}, "of": record{"x": 1}, "now": 7}, 0},
		"added members":    {record{"name": "Lin", "list": []int{1, 2}, "of": record{"x": 1, "y": 2}, "new": true}, 0},
		"a missing member": {record{"list": []int{1, 2}, "of": record{"x": 1}}, 1},
		"other values":     {record{"name": "Max", "list": []int{1, 2}, "of": record{"x": 2}}, 2},
		"a shorter list":   {record{"name": "Lin", "list": []int{1}, "of": record{"x": 1}}, 1},
		"another type":     {record{"name": "Lin", "list": []int{1, 2}, "of": "x"}, 1},
	} {
		if got := differ("it", was, asJSON(c.is), false); len(got) != c.found {
			t.Errorf("%s: the differences are %q, want %d", what, got, c.found)
		}
	}
}

// inBoth returns a, with varies in place of every part that differs in b.
func inBoth(a, b any) any {
	x, isObject := a.(map[string]any)
	y, too := b.(map[string]any)
	if isObject && too {
		out := map[string]any{}
		for key, v := range x {
			out[key] = inBoth(v, y[key])
		}
		return out
	}
	l, isList := a.([]any)
	m, too := b.([]any)
	if isList && too && len(l) == len(m) {
		out := []any{}
		for i := range l {
			out = append(out, inBoth(l[i], m[i]))
		}
		return out
	}
	if !reflect.DeepEqual(a, b) {
		return varies
	}
	return a
}

// write writes the description of a release.
func (r keptRelease) write(t *testing.T, name string) {
	t.Helper()
	text, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	writeZipped(t, name+".json.gz", bytes.NewReader(text))
}

func writeZipped(t *testing.T, name string, from io.Reader) {
	t.Helper()
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewWriterLevel(f, gzip.BestCompression)
	if err == nil {
		_, err = io.Copy(z, from)
		err = errors.Join(err, z.Close(), f.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
}

package acceptance

import (
	"archive/tar"
	"compress/gzip"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"atelier/cmd/atelier/config"
	"atelier/persistence/badger"
)

var writeFormat = flag.Bool("write-format", false, "make the data folder of the present format anew, in testdata")

// fixture is what a data folder must answer.
type fixture struct {
	Codelab string `json:"codelab"`
	// Answers are the GET answers by path, as a facilitator gets them.
	Answers map[string]json.RawMessage `json:"answers"`
	// Positions are the X-Codelab-Seq of those that have one.
	Positions map[string]string `json:"positions"`
	// Epoch and Replay are the stream from its beginning.
	Epoch  string    `json:"epoch"`
	Replay []message `json:"replay"`
}

// formatConfig keeps what time would take away: a folder is opened years after
// it was made.
func formatConfig(data string) config.Config {
	cfg := configOn(data)
	cfg.Audit.RetentionDays = 36500
	return cfg
}

// look collects what a server answers.
func (c *class) look() fixture {
	c.t.Helper()
	f := fixture{Codelab: c.id, Answers: map[string]json.RawMessage{}, Positions: map[string]string{}}
	for _, path := range []string{
		"/codelabs", "/admin/tokens", "/admin/audit-logs?codelab_id=" + c.id, c.path, c.path + "/chat", c.path + "/inline-comments", c.path + "/attendees",
		c.path + "/help", c.path + "/feedback", c.path + "/quizzes", c.path + "/quizzes/submissions", c.path + "/materials", c.path + "/submissions",
	} {
		a := c.admin.get(path).want(200)
		f.Answers[path] = a.body
		if at := a.header.Get("X-Codelab-Seq"); at != "" {
			f.Positions[path] = at
		}
	}
	live := c.admin.connect(c.id, "?since=0")
	live.until("the head", func(m message) bool {
		return m["ts"] != nil && m.kind() == "codelab_changed" && m.seq() == live.welcome.number("head")
	})
	f.Epoch, f.Replay = live.welcome.text("epoch"), live.stored()
	_ = live.conn.Close()
	return f
}

func TestFormatsOpen(t *testing.T) {
	if *writeFormat {
		makeFormat(t)
	}
	folders, err := filepath.Glob("testdata/format-*.tar.gz")
	if err != nil || len(folders) < badger.Format {
		t.Fatalf("%d data folders for formats up to %d: make the missing one with -write-format", len(folders), badger.Format)
	}
	for _, packed := range folders {
		t.Run(filepath.Base(packed), func(t *testing.T) {
			text, err := os.ReadFile(strings.TrimSuffix(packed, ".tar.gz") + ".json")
			if err != nil {
				t.Fatal(err)
			}
			var want fixture
			if err := json.Unmarshal(text, &want); err != nil {
				t.Fatal(err)
			}
			data := t.TempDir()
			unpack(t, packed, data)
			addr := startServer(t, formatConfig(data)).Addr()
			c := &class{t: t, addr: addr, admin: facilitator(t, addr, ""), id: want.Codelab, path: "/codelabs/" + want.Codelab}
			got := c.look()
			for path, body := range want.Answers {
				if !reflect.DeepEqual(decoded(got.Answers[path]), decoded(body)) || got.Positions[path] != want.Positions[path] {
					t.Errorf("%s at %s: %s\nwant %s: %s", path, got.Positions[path], got.Answers[path], want.Positions[path], body)
				}
			}
			if got.Epoch != want.Epoch || !reflect.DeepEqual(got.Replay, want.Replay) {
				t.Errorf("replayed is %s %v\nwant %s %v", got.Epoch, got.Replay, want.Epoch, want.Replay)
			}
			// The codes are hashed under a key of the folder.
			if p := c.join(open(t, addr), record{"name": "Lin", "code": "4711"}); !strings.Contains(string(want.Answers[c.path+"/attendees"]), p.id) {
				t.Error("a rejoin gives another attendee")
			}
		})
	}
}

// makeFormat holds a small workshop, stops, and packs the folder.
func makeFormat(t *testing.T) {
	data := t.TempDir()
	s := startUntilStopped(t, formatConfig(data))
	c := newClassOn(t, s.Addr(), record{"title": "Format", "author": "Ada", "guide_markdown": "# Guide", "quiz_enabled": true})
	lin := c.join(open(t, c.addr), record{"name": "Lin", "code": "4711", "email": "lin@example.org"})
	max, gone := c.attendee("Max"), c.attendee("Gone")
	live := lin.connect(c.id, "")
	for i := range 3 {
		live.acked(record{"type": "chat", "message": fmt.Sprint("Nachricht ", i, " 한글 🎉")}, fmt.Sprint("r", i))
	}
	live.acked(record{"type": "dm", "target_id": "facilitator", "message": "direct"}, "d")
	live.acked(record{"type": "step_progress", "step_number": 3}, "p")
	lin.post(c.path+"/help", record{"step_number": 2}).want(200)
	max.post(c.path+"/help", record{"step_number": 1}).want(200)
	help := c.admin.get(c.path + "/help").list()
	c.admin.post(c.path+"/help/"+help[0].text("id")+"/claim", nil).want(200)
	c.admin.post(c.path+"/help/"+help[1].text("id")+"/resolve", nil).want(200)
	lin.post(c.path+"/feedback", record{"difficulty": "2", "satisfaction": "5", "comment": "good"}).want(200)
	lin.post(c.path+"/inline-comments", c.anchor(c.steps[0], 0, 5, "why")).want(200)
	c.admin.post(c.path+"/inline-comments", c.anchor(c.steps[0], 0, 5, "because")).want(200)
	max.post(c.path+"/inline-comments", guideAnchor(2, 7)).want(200)
	q := c.quizzes(choice("one", 1), choice("several", []int{0, 2}), record{"question": "free", "quiz_type": "descriptive"})
	lin.post(c.path+"/quizzes/submit", record{"submissions": []record{
		{"quiz_id": q[0].text("id"), "answer": "1"}, {"quiz_id": q[1].text("id"), "answer": "[0,2]"}, {"quiz_id": q[2].text("id"), "answer": "text"},
	}}).want(200)
	c.material("Paper", "Paper.pdf", "%PDF-1.7")
	lin.hand(c, "mine.txt", []byte("by Lin")).want(200)
	lin.post(c.path+"/complete", nil).want(200)
	c.admin.post("/admin/tokens", record{"name": "token"}).want(200)
	c.admin.delete(c.path + "/attendees/" + gone.id).want(204)
	c.admin.put(c.path+"/attendees/"+max.id, record{"muted": true}).want(200)
	c.admin.delete(c.path + "/chat/" + lin.get(c.path + "/chat").list()[0].text("id")).want(204)
	_ = live.conn.Close()
	if err := s.Stop(); err != nil {
		t.Fatal(err)
	}
	// A second life, so that the folder has been recovered once.
	s = startUntilStopped(t, formatConfig(data))
	c.admin.base = "http://" + s.Addr()
	c.admin.put(c.path, record{"description": "after a restart"}).want(200)
	text, err := json.MarshalIndent(c.look(), "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	c.admin.http.CloseIdleConnections()
	if err := s.Stop(); err != nil {
		t.Fatal(err)
	}
	name := fmt.Sprintf("testdata/format-%d", badger.Format)
	pack(t, data, name+".tar.gz")
	if err := os.WriteFile(name+".json", append(text, '\n'), 0o644); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(name + ".tar.gz"); err != nil || info.Size() > 150<<10 {
		t.Errorf("the packed folder is too large: %v %v", info, err)
	}
}

func pack(t *testing.T, folder, to string) {
	t.Helper()
	f, err := os.Create(to)
	if err != nil {
		t.Fatal(err)
	}
	zw, _ := gzip.NewWriterLevel(f, gzip.BestCompression)
	tw := tar.NewWriter(zw)
	err = filepath.WalkDir(folder, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(folder, path)
		if err != nil {
			return err
		}
		if err := tw.WriteHeader(&tar.Header{Name: filepath.ToSlash(name), Mode: 0o600, Size: int64(len(b))}); err != nil {
			return err
		}
		_, err = tw.Write(b)
		return err
	})
	if err = errors.Join(err, tw.Close(), zw.Close(), f.Close()); err != nil {
		t.Fatal(err)
	}
}

func unpack(t *testing.T, from, folder string) {
	t.Helper()
	f, err := os.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	zr, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	for tr := tar.NewReader(zr); ; {
		h, err := tr.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(folder, filepath.FromSlash(h.Name))
		b, err := io.ReadAll(tr)
		if err == nil {
			err = os.MkdirAll(filepath.Dir(path), 0o700)
		}
		if err == nil {
			err = os.WriteFile(path, b, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

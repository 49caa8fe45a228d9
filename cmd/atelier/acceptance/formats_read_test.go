package acceptance

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"atelier/actors/audit"
	"atelier/actors/catalog"
	"atelier/actors/clock"
	"atelier/actors/code"
	"atelier/actors/codelab"
	"atelier/actors/codelab/codelabpb"
	"atelier/actors/durable"
	"atelier/actors/files"
	"atelier/actors/participant"
	"atelier/actors/settings"
	"atelier/cmd/atelier/service"
	"atelier/persistence/badger"
	"atelier/persistence/objects/contents"
	"atelier/persistence/objects/folder"
	"atelier/persistence/objects/trees"
	"atelier/transport/messages"
)

// holding is the content of a data folder, as the server's own packages read it.
type holding struct {
	t     *testing.T
	store *badger.Store
	trail *audit.Trail
	// state is the whole content, by kind.
	state map[string]any

	codelabs map[string]*codelabpb.Snapshot
	uploads  []*codelabpb.Upload
	// code is the SHA-256 of each file of a workspace, by codelab, head and path.
	code map[string]map[string]map[string]string
}

// readFolder reads everything in a data folder. No server must use the folder at the same time.
func readFolder(t *testing.T, data string) *holding {
	t.Helper()
	cfg := formatConfig(data)
	store, err := badger.Open(badger.Options{Dir: service.StoreDir(cfg), MemTableBytes: 16 << 20, MinFreeBytes: 64 << 20})
	if err != nil {
		t.Fatal(err)
	}
	h := &holding{
		t: t, store: store, trail: audit.New(store, clock.System, decades), state: map[string]any{"stream": store.StreamID()},
		codelabs: map[string]*codelabpb.Snapshot{}, code: map[string]map[string]map[string]string{},
	}
	list, err := catalog.LoadList(store)
	h.must(err)
	uploads, err := contents.Open(contents.Options{Dir: filepath.Join(data, "blobs"), Grace: decades, MinFreeBytes: 64 << 20})
	h.must(err)
	register := files.NewRegister(store, uploads, decades, time.Now)
	h.must(os.MkdirAll(filepath.Join(data, "objects"), 0o700))
	objects, err := folder.Open(folder.Options{Dir: filepath.Join(data, "objects"), MinFreeBytes: 64 << 20})
	h.must(err)
	ofCode, err := trees.Open(trees.Options{Objects: objects, Dir: t.TempDir(), Alone: true})
	h.must(err)
	h.readLogs() // first, because running actors can shorten the logs
	h.readActors(list, register)
	h.readRows(list)
	h.readTokens(cfg)
	h.readFiles(register, uploads)
	h.readCode(ofCode)
	h.must(errors.Join(objects.Close(), store.Close()))
	h.readTables(service.StoreDir(cfg))
	return h
}

func (h *holding) must(err error) {
	h.t.Helper()
	if err != nil {
		h.t.Fatal(err)
	}
}

// part returns an object of the state. It creates the object if it is missing.
func (h *holding) part(name string) map[string]any {
	if h.state[name] == nil {
		h.state[name] = map[string]any{}
	}
	return h.state[name].(map[string]any)
}

// readLogs reads the journal: for each actor the position of its snapshot, and its events.
func (h *holding) readLogs() {
	h.t.Helper()
	parse := map[string]func([]byte) (proto.Message, error){
		"codelab":      func(b []byte) (proto.Message, error) { return codelab.ParseEvent(b) },
		"catalog":      func(b []byte) (proto.Message, error) { return settings.Kind(h.trail).ParseEvent(b) },
		"participants": func(b []byte) (proto.Message, error) { return participant.Kind(h.trail).ParseEvent(b) },
	}
	var names []string
	h.must(h.store.Actors("", func(name string) bool { names = append(names, name); return true }))
	for _, name := range names {
		log, err := h.store.Follow(name)
		h.must(err)
		kind, _, _ := strings.Cut(name, "/")
		events := map[string]any{}
		var snapshot durable.Snapshot
		h.must(log.Load(1<<32, func(s durable.Snapshot) error { snapshot = s; return nil }, func(seq uint64, b []byte) error {
			e, err := parse[kind](b)
			events[fmt.Sprint(seq)] = h.plain(e)
			return err
		}))
		log.Close()
		h.part("logs")[name] = map[string]any{"snapshot": snapshot.Seq, "tail": snapshot.Tail, "events": events}
	}
}

// readActors recovers each actor as a server does, and encodes its state with the actor's own
// snapshot code.
func (h *holding) readActors(list *catalog.List, register *files.Register) {
	h.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), testTimeout)
	defer cancel()
	system, opts := durable.NewSystem(), durable.Options{IdleAfter: -1}
	state := h.part("actors")

	ofSettings := settings.Kind(h.trail)
	host, err := durable.NewHost(system, h.store, ofSettings, opts)
	h.must(err)
	one, err := host.Get(settings.ID)
	h.must(err)
	state["settings"] = h.snapshot(&settings.Snapshot{}, func() ([]byte, error) { return ofSettings.EncodeState(one.View()) })
	h.must(host.Close(ctx))

	ofParticipants := participant.Kind(h.trail)
	members, err := durable.NewHost(system, h.store, ofParticipants, opts)
	h.must(err)
	all, err := members.Get(participant.ID)
	h.must(err)
	state["participants"] = h.snapshot(&participant.Snapshot{}, func() ([]byte, error) { return ofParticipants.EncodeState(all.View()) })
	h.must(members.Close(ctx))

	codelabs, err := codelab.NewCodelabs(codelab.Config{
		System: system, Journal: h.store, List: list, Files: register, Frames: messages.Frames{}, Epoch: h.store.StreamID(),
		Durable: opts, Sweep: true, Logger: slog.New(slog.DiscardHandler),
	})
	h.must(err)
	for _, m := range list.All() {
		w, err := codelabs.Get(m.Id)
		h.must(err)
		s := &codelabpb.Snapshot{}
		state["codelab "+m.Id] = h.snapshot(s, func() ([]byte, error) { return codelab.EncodeState(w.View()) })
		h.codelabs[m.Id] = s
	}
	h.must(codelabs.Close(ctx))
}

func (h *holding) snapshot(s decodable, encode func() ([]byte, error)) any {
	h.t.Helper()
	b, err := encode()
	h.must(err)
	h.must(s.Decode(b))
	return h.plain(s)
}

// decodable is a stored message.
type decodable interface {
	proto.Message
	Decode([]byte) error
}

// readFiles reads the contents of uploads and submissions.
func (h *holding) readFiles(register *files.Register, uploads *contents.Store) {
	h.t.Helper()
	var sums [][]byte
	var names []string
	h.must(h.store.Scan(durable.Scan{Table: "uploads"}, func(key, _ []byte) bool { names = append(names, string(key)); return true }))
	for _, name := range names {
		u, err := register.Get(name)
		h.must(err)
		h.uploads, sums = append(h.uploads, u), append(sums, u.Sum)
		h.part("uploads")[name] = h.plain(u)
	}
	for _, s := range h.codelabs {
		for _, x := range s.Submissions {
			if len(x.Sum) > 0 {
				sums = append(sums, x.Sum)
			}
		}
	}
	// Referenced files stay. If a reference were not found, its file would be removed here. The
	// comparison of the state would then report the missing content.
	h.must(register.Drop(names...))
	h.must(register.Discard(sums...))
	for _, b := range sums {
		sum, _ := files.SumOf(b)
		f, size, err := uploads.Open(sum)
		if errors.Is(err, files.ErrMissing) || errors.Is(err, fs.ErrNotExist) {
			continue
		}
		h.must(err)
		whole, err := io.ReadAll(f)
		h.must(errors.Join(err, f.Close()))
		if hashOf(whole) != sum.String() {
			h.t.Errorf("the content of %s differs", sum)
		}
		h.part("contents")[sum.String()] = size
	}
}

// readCode reads the files of the workspaces' trees.
func (h *holding) readCode(trees *trees.Store) {
	h.t.Helper()
	for lab, s := range h.codelabs {
		if s.Workspace == nil {
			continue
		}
		kind, heads := code.Plain, map[string]map[string]string{}
		if s.Workspace.StructureType == codelab.BranchWorkspace {
			kind = code.Git
		}
		for _, head := range s.Workspace.Heads {
			heads[head.Name] = map[string]string{}
			paths, err := trees.List(s.Workspace.Id, kind, head.Tree)
			h.must(err)
			for _, path := range paths {
				b, _, err := trees.Read(s.Workspace.Id, kind, head.Tree, path)
				h.must(err)
				heads[head.Name][path] = hashOf(b)
			}
		}
		h.code[lab] = heads
		h.part("code")[lab] = heads
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func hashOf(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// plain returns a message as JSON. An empty value becomes a text such as "(map[])", so that it does
// not count as missing. A text of more than 300 bytes is shortened, with its length and hash.
func (h *holding) plain(m proto.Message) any {
	h.t.Helper()
	text, err := protojson.MarshalOptions{UseEnumNumbers: true}.Marshal(m)
	h.must(err)
	var out any
	h.must(json.Unmarshal(text, &out))
	return inWords(out)
}

func inWords(v any) any {
	if isNothing(v) {
		return fmt.Sprintf("(%v)", v)
	}
	switch v := v.(type) {
	case map[string]any:
		for key, x := range v {
			v[key] = inWords(x)
		}
	case []any:
		for i, x := range v {
			v[i] = inWords(x)
		}
	case string:
		if len(v) > 300 {
			return fmt.Sprintf("%.40s... %d bytes %s", v, len(v), hashOf([]byte(v)))
		}
	}
	return v
}

// keyText returns a record's key as text.
func keyText(key []byte) string {
	text := strings.ReplaceAll(string(key), "\x00", " ")
	if !utf8.ValidString(text) || strings.ContainsFunc(text, func(r rune) bool { return r < ' ' }) {
		return hex.EncodeToString(key)
	}
	return text
}

package acceptance

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"io/fs"
	"maps"
	"slices"
	"strings"

	badgerdb "github.com/dgraph-io/badger/v4"

	"atelier/actors/audit"
	"atelier/actors/catalog"
	"atelier/actors/codelab/codelabpb"
	"atelier/actors/durable"
	"atelier/actors/login/loginpb"
	"atelier/actors/token/seal"
	"atelier/actors/token/tokenpb"
	"atelier/actors/usage"
	"atelier/cmd/atelier/config"
	"atelier/cmd/atelier/service"
	"atelier/persistence/secrets"
)

// heldTables are the tables that are read here, and those that contain only operations in
// progress. Add each new table here, and to the folder.
var heldTables = []string{
	"aiusage", "answers-production", "answers-sandbox", "audit", "auditby", "auditown", "blobuses", "checkouts-production", "checkouts-sandbox", "codelabs",
	"erasure", "figures", "purge", "sessionfamilies", "tokenkeys", "tokens-production", "tokens-sandbox", "uploads", "uploaduses",
	"workspaces",
}

// readRows reads the records. If the server has a reader for a table, readRows uses it, so a
// changed name or key is detected.
func (h *holding) readRows(list *catalog.List) {
	h.t.Helper()
	for _, m := range list.All() {
		h.part("list")[m.Id] = h.plain(m)
		about, err := h.trail.Find(audit.Query{Limit: 1 << 20, CodelabID: m.Id})
		h.must(err)
		var ids []any
		for _, r := range about {
			ids = append(ids, r.Id)
		}
		h.part("audited")[m.Id] = ids
	}
	records, err := h.trail.Find(audit.Query{Limit: 1 << 20})
	h.must(err)
	for _, r := range records {
		h.part("audit")[r.Id] = h.plain(r)
	}
	figures, err := list.Figures(list.All())
	h.must(err)
	for id, f := range figures {
		h.part("figures")[id] = h.plain(f)
	}
	h.must(list.Usages(func(id string, models []*usage.AIUsage) {
		h.part("usage")[id] = h.plain(&codelabpb.AIUsages{Models: models})
	}))
	h.must(catalog.Workspaces(h.store, func(id string, w *codelabpb.Workspace) { h.part("workspaces")[id] = h.plain(w) }))
	h.decode("sessionfamilies", func() decodable { return &loginpb.SessionFamily{} })
	h.decode("checkouts-production", func() decodable { return &tokenpb.Session{} })
	h.decode("checkouts-sandbox", func() decodable { return &tokenpb.Session{} })
	// The keys of these tables contain all the information, or their values are sealed or secret.
	for _, table := range []string{"uploaduses", "blobuses", "answers-production", "answers-sandbox", "tokenkeys", "erasure", "auditown"} {
		h.scan(table, func(key, value []byte) error { h.part(table)[keyText(key)] = hashOf(value); return nil })
	}
}

func (h *holding) scan(table string, fn func(key, value []byte) error) {
	h.t.Helper()
	var failed error
	err := h.store.Scan(durable.Scan{Table: table}, func(key, value []byte) bool { failed = fn(key, value); return failed == nil })
	if err = errors.Join(err, failed); err != nil {
		h.t.Fatalf("table %s: %v", table, err)
	}
}

func (h *holding) decode(table string, empty func() decodable) {
	h.t.Helper()
	h.scan(table, func(key, value []byte) error {
		m := empty()
		err := m.Decode(value)
		h.part(table)[keyText(key)] = h.plain(m)
		return err
	})
}

// readTokens reads the token records. Sealed parts appear as their hash.
func (h *holding) readTokens(cfg config.Config) {
	h.t.Helper()
	keys, err := secrets.LoadKeys(service.TokenKeyFile(cfg))
	if errors.Is(err, fs.ErrNotExist) {
		return // the folder is older than tokens
	}
	h.must(err)
	for _, e := range []seal.Environment{seal.Production, seal.Sandbox} {
		ring, err := seal.NewRing(e, h.store.StreamID(), keys)
		h.must(err)
		table := "tokens-" + string(e)
		h.scan(table, func(key, value []byte) error {
			body, version, err := ring.Verify(key, value)
			if err != nil {
				return err
			}
			m := &tokenpb.Token{}
			err = m.Decode(body)
			for _, sealed := range []*[]byte{&m.Credential, &m.Display} {
				if len(*sealed) > 0 {
					sum := sha256.Sum256(*sealed)
					*sealed = sum[:]
				}
			}
			h.part(table)[keyText(key)] = map[string]any{"key": version.Number, "record": h.plain(m)}
			return err
		})
	}
}

// readTables lists the names of all tables in the closed store, so that none is forgotten here.
// It parses the keys of persistence/badger/DESIGN.md.
func (h *holding) readTables(dir string) {
	h.t.Helper()
	var db *badgerdb.DB
	h.must(onceItCan(func() (err error) {
		db, err = badgerdb.Open(badgerdb.DefaultOptions(dir).WithReadOnly(true).WithLogger(nil))
		return err
	}))
	tables := map[string]bool{}
	h.must(db.View(func(txn *badgerdb.Txn) error {
		it := txn.NewIterator(badgerdb.IteratorOptions{Prefix: []byte("r")})
		defer it.Close()
		for it.Rewind(); it.Valid(); it.Next() {
			name, _, _ := bytes.Cut(it.Item().Key()[1:], []byte{0})
			tables[string(name)] = true
		}
		return nil
	}))
	h.must(db.Close())
	for name := range tables {
		if !slices.Contains(heldTables, name) {
			h.t.Errorf("this test does not read the table %s", name)
		}
	}
	h.state["tables"] = strings.Join(slices.Sorted(maps.Keys(tables)), " ")
}

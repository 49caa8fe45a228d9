package acceptance

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	badgerdb "github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/options"

	"atelier/cmd/atelier/service"
	"atelier/persistence/badger"
	"atelier/persistence/layout"
)

// upgradeChecked returns the output of "atelier upgrade --check" for a data folder, and whether
// the command succeeded.
func upgradeChecked(t *testing.T, program, data string) (said record, ok bool) {
	t.Helper()
	cmd := exec.Command(program, "upgrade", "--check", "--json", "--data", data)
	cmd.Dir = t.TempDir()
	out, err := cmd.Output()
	if jsonErr := json.Unmarshal(out, &said); jsonErr != nil {
		t.Fatalf("the output is not JSON: %v, %v: %s", jsonErr, err, out)
	}
	return said, err == nil
}

// check returns one of the lines.
func (r record) check(name string) string {
	for _, c := range r["checks"].([]any) {
		if f := record(c.(map[string]any)); f.text("name") == name {
			return fmt.Sprint(f["ok"], " ", f["text"])
		}
	}
	return ""
}

// everyByte returns a hash of the content of all files in a folder.
func everyByte(t *testing.T, folder string) string {
	t.Helper()
	sum := sha256.New()
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		b, err := os.ReadFile(path)
		fmt.Fprintf(sum, "%s %d\n%s", path, len(b), b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%x", sum.Sum(nil))
}

// The check covers data of each kind, and changes nothing.
func TestAnUpgradeIsCheckedBeforehand(t *testing.T) {
	t.Parallel()
	program := binary(t)
	now := fmt.Sprintf("format %d", badger.Format)

	empty := t.TempDir()
	if said, _ := upgradeChecked(t, program, empty); !strings.Contains(said.check("data"), "there is none") || everyByte(t, empty) != everyByte(t, t.TempDir()) {
		t.Errorf("the check of an empty folder: %v", said)
	}

	data := t.TempDir()
	server, addr := run(t, program, data)
	newClassOn(t, addr, record{"title": "runs"})
	said, ok := upgradeChecked(t, program, data)
	if ok || !strings.HasPrefix(said.check("backup"), "false") { // no backup exists
		t.Errorf("the check without a backup: %v", said)
	}
	if said.text("running") != "dev" || !strings.Contains(said.check("data"), now) || said.text("way_back") != "data" {
		t.Errorf("the check of a running server: %v", said)
	}
	backup := exec.Command(program, "backup", "--data", data, filepath.Join(t.TempDir(), "b"))
	if out, err := backup.CombinedOutput(); err != nil {
		t.Fatalf("the backup: %v: %s", err, out)
	}
	if err := server.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	_ = server.Wait()
	said, ok = upgradeChecked(t, program, data)
	if !ok || said.text("running") != "" || !strings.Contains(said.check("data"), now) || !strings.HasPrefix(said.check("backup"), "true") {
		t.Errorf("the check of a stopped server with a backup: %v", said)
	}

	store := service.StoreDir(configOn(data))
	if err := os.Rename(store, store+".away"); err != nil {
		t.Fatal(err)
	}
	if said, ok = upgradeChecked(t, program, data); ok || !strings.HasPrefix(said.check("data"), "false "+store+" is missing") || said.text("way_back") != "" {
		t.Errorf("the check of a store that is not mounted: %v", said)
	}
	if err := os.Rename(store+".away", store); err != nil {
		t.Fatal(err)
	}

	mark := func(format string) {
		t.Helper()
		db, err := badgerdb.Open(badgerdb.DefaultOptions(service.StoreDir(configOn(data))).WithLogger(nil).WithCompression(options.None))
		if err != nil {
			t.Fatal(err)
		}
		err = db.Update(func(txn *badgerdb.Txn) error {
			return txn.Set(layout.FormatKey, layout.Sealed(layout.FormatKey, []byte(format)))
		})
		if err != nil || db.Close() != nil {
			t.Fatal(err)
		}
	}
	for format, want := range map[string]string{"99": "false it has format 99", "1": "the data has format 1, which no release wrote"} {
		mark(format)
		before := everyByte(t, data)
		if said, ok = upgradeChecked(t, program, data); ok || !strings.Contains(said.check("data"), want) {
			t.Errorf("the check of format %s: %v", format, said)
		}
		if everyByte(t, data) != before {
			t.Error("the check changed the data")
		}
	}
}

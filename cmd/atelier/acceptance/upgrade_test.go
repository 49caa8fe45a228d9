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
func upgradeChecked(t *testing.T, program, data string) (report record, ok bool) {
	t.Helper()
	cmd := exec.Command(program, "upgrade", "--check", "--json", "--data", data)
	cmd.Dir = t.TempDir()
	out, err := cmd.Output()
	if jsonErr := json.Unmarshal(out, &report); jsonErr != nil {
		t.Fatalf("the output is not JSON: %v, %v: %s", jsonErr, err, out)
	}
	return report, err == nil
}

// check returns the result and text of the check with a name.
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

// The check handles an empty folder, a running and a stopped server, a missing store and unknown
// formats. It changes nothing.
func TestAnUpgradeIsCheckedBeforehand(t *testing.T) {
	t.Parallel()
	program := binary(t)
	now := fmt.Sprintf("format %d", badger.Format)

	empty := t.TempDir()
	if report, _ := upgradeChecked(t, program, empty); !strings.Contains(report.check("data"), "there is none") || everyByte(t, empty) != everyByte(t, t.TempDir()) {
		t.Errorf("the check of an empty folder reports %v", report)
	}

	data := t.TempDir()
	server, addr := run(t, program, data)
	newClassOn(t, addr, record{"title": "runs"})
	report, ok := upgradeChecked(t, program, data)
	if ok || !strings.HasPrefix(report.check("backup"), "false") { // no backup exists
		t.Errorf("the check without a backup reports %v", report)
	}
	if report.text("running") != "dev" || !strings.Contains(report.check("data"), now) || report.text("way_back") != "data" {
		t.Errorf("the check of a running server reports %v", report)
	}
	backup := exec.Command(program, "backup", "--data", data, filepath.Join(t.TempDir(), "b"))
	if out, err := backup.CombinedOutput(); err != nil {
		t.Fatalf("the backup failed: %v: %s", err, out)
	}
	if err := server.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	_ = server.Wait()
	report, ok = upgradeChecked(t, program, data)
	if !ok || report.text("running") != "" || !strings.Contains(report.check("data"), now) || !strings.HasPrefix(report.check("backup"), "true") {
		t.Errorf("the check of a stopped server with a backup reports %v", report)
	}

	store := service.StoreDir(configOn(data))
	if err := os.Rename(store, store+".away"); err != nil {
		t.Fatal(err)
	}
	if report, ok = upgradeChecked(t, program, data); ok || !strings.HasPrefix(report.check("data"), "false "+store+" is missing") || report.text("way_back") != "" {
		t.Errorf("the check of a store that is not mounted reports %v", report)
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
		if report, ok = upgradeChecked(t, program, data); ok || !strings.Contains(report.check("data"), want) {
			t.Errorf("the check of format %s reports %v", format, report)
		}
		if everyByte(t, data) != before {
			t.Error("the check changed the data")
		}
	}
}

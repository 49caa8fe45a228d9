package acceptance

import (
	"encoding/json"
	"flag"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"atelier/cmd/atelier/config"
	"atelier/cmd/atelier/service"
	"atelier/persistence/badger"
)

// testdata contains a packed data folder for each storage format, with a description of its
// contents. testdata/README.md describes when and how they are made again.
var (
	writeFormat = flag.Bool("write-format", false, "write the data folder of the current format to testdata")
	renewFormat = flag.Bool("renew-formats", false, "rewrite the descriptions of the data folders in testdata")
)

// fixture describes the contents of a packed data folder.
type fixture struct {
	Doors keptCredentials `json:"doors"`
	// State is the content of the folder (see holding).
	State any `json:"state"`
	// Streams are the replays of the codelabs from their beginning.
	Streams map[string]replay `json:"streams"`
}

// keptCredentials are credentials from when the folder was made. People and programs sign in again
// with them. All were made for the folder, and none is a real secret.
type keptCredentials struct {
	People []keptPerson `json:"people,omitempty"`
	// Facilitator is the session cookie of a browser.
	Facilitator string `json:"facilitator,omitempty"`
	// APITokens are valid, RevokedTokens are not.
	APITokens     []string     `json:"api_tokens,omitempty"`
	RevokedTokens []string     `json:"revoked_tokens,omitempty"`
	AIKey         string       `json:"ai_key,omitempty"`
	Markets       []keptMarket `json:"markets,omitempty"`
}

// keptPerson is an attendee who signs in again with name and code. With Session, the attendee
// continues in the same browser.
type keptPerson struct {
	Codelab string `json:"codelab"`
	ID      string `json:"id"`
	Name    string `json:"name"`
	Code    string `json:"code"`
	Session string `json:"session,omitempty"`
}

// keptMarket is a market of the handler, with the tokens that were made in it.
type keptMarket struct {
	Path     string      `json:"path"`
	Platform keptMember  `json:"platform"`
	Business keptMember  `json:"business"`
	Tokens   []keptToken `json:"tokens"`
}

type keptMember struct {
	ID       string `json:"id"`
	Identity string `json:"identity"`
	Secret   string `json:"secret"`
}

// keptToken is a token and its introspection.
type keptToken struct {
	Token    string `json:"token"`
	Checkout string `json:"checkout"`
	// Key is the idempotency key of its request, or "".
	Key  string `json:"key,omitempty"`
	Seen record `json:"seen"`
}

// replay is a replayed stream: the seq and type of each frame.
type replay struct {
	Epoch  string   `json:"epoch"`
	Frames []string `json:"frames"`
}

// decades is the lifetime of everything in the folders, which are opened years after they were
// made.
const decades = 50 * 365 * 24 * time.Hour

// formatConfig sets lifetimes of decades for data that would otherwise expire.
func formatConfig(data string) config.Config {
	cfg := configOn(data)
	cfg.Audit.RetentionDays = 36500
	for _, d := range []*config.Duration{
		&cfg.Session.AdminLifetime, &cfg.Session.AttendeeLifetime, &cfg.Files.Grace, &cfg.Handler.RememberExpired, &cfg.Handler.RememberEnded,
	} {
		*d = config.Duration(decades)
	}
	return cfg
}

// startOnFormat starts a server on a data folder; the caller stops it. Its checkout sessions last
// longer than a configuration allows. Tokens whose policy sets a lifetime have expired when a
// folder is opened, so only session tokens can still be used.
func startOnFormat(t *testing.T, cfg config.Config) *service.Service {
	t.Helper()
	if _, err := cfg.Check(); err != nil {
		t.Fatal(err)
	}
	cfg.Handler.SessionCap = config.Duration(decades)
	s, err := service.Start(cfg, service.Options{Lease: lastingLease}, slog.New(slog.NewTextHandler(&suiteLog, &slog.HandlerOptions{Level: slog.LevelDebug})))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestFormatsOpen(t *testing.T) {
	t.Parallel()
	present := fmt.Sprintf("testdata/format-%d", badger.Format)
	if *writeFormat {
		makeFormat(t, present)
	}
	if !exists(present + ".tar.gz") {
		t.Fatalf("format %d has no data folder: make it with -write-format", badger.Format)
	}
	folders, err := filepath.Glob("testdata/format-*.tar.gz")
	if err != nil {
		t.Fatal(err)
	}
	for _, packed := range folders {
		name := strings.TrimSuffix(packed, ".tar.gz")
		t.Run(filepath.Base(name), func(t *testing.T) {
			f := readFixture(t, name)
			// One copy is read and the other is served, so neither contains changes of the other.
			held, served := t.TempDir(), t.TempDir()
			unpack(t, packed, held)
			unpack(t, packed, served)
			renew := *renewFormat || *writeFormat && name == present
			got := readFolder(t, held)
			if !renew {
				reportDifferences(t, differences("state", f.State, got.state))
			}
			streams := f.Doors.open(t, served, got)
			if renew {
				f.State, f.Streams = got.state, streams
				f.write(t, name)
			}
			reportDifferences(t, differences("streams", f.Streams, streams))
		})
	}
}

// The records in the folder show the server which token keys it needs.
func TestAFolderWithoutItsTokenKeysIsRefused(t *testing.T) {
	t.Parallel()
	cfg := formatConfig(t.TempDir())
	unpack(t, fmt.Sprintf("testdata/format-%d.tar.gz", badger.Format), cfg.Server.Data)
	if err := os.Remove(service.TokenKeyFile(cfg)); err != nil {
		t.Fatal(err)
	}
	s, err := service.Start(cfg, service.Options{}, slog.New(slog.DiscardHandler))
	if err == nil {
		_ = s.Stop()
	}
	if err == nil || !strings.Contains(err.Error(), "token keys are missing") {
		t.Errorf("starting without the token keys returned %v, want an error that they are missing", err)
	}
}

func reportDifferences(t *testing.T, differences []string) {
	t.Helper()
	for i, d := range differences {
		if i == 20 {
			t.Errorf("and %d more", len(differences)-i)
			return
		}
		t.Error(d)
	}
}

func readFixture(t *testing.T, name string) (f fixture) {
	t.Helper()
	text, err := os.ReadFile(name + ".json")
	if err == nil {
		err = json.Unmarshal(text, &f)
	}
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func (f fixture) write(t *testing.T, name string) {
	t.Helper()
	text, err := json.MarshalIndent(f, "", " ")
	if err == nil {
		err = os.WriteFile(name+".json", append(text, '\n'), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// differences lists the differences between the JSON of two values. An empty list and a zero value
// count as missing, so a new field that is empty makes no difference.
func differences(at string, want, got any) []string {
	return differ(at, asJSON(want), asJSON(got), true)
}

// varies replaces a value that changed within a minute. The comparison accepts any value for it.
const varies = "(varies)"

// differ lists the differences between two JSON values. Unless whole is set, got can have fields
// that want lacks.
func differ(at string, want, got any, whole bool) (out []string) {
	if isNothing(want) && isNothing(got) || want == varies {
		return nil
	}
	w, isObject := want.(map[string]any)
	g, too := got.(map[string]any)
	if isObject && too {
		members := maps.Clone(w)
		if whole {
			maps.Copy(members, g)
		}
		for _, key := range slices.Sorted(maps.Keys(members)) {
			out = append(out, differ(at+"."+key, w[key], g[key], whole)...)
		}
		return out
	}
	x, isList := want.([]any)
	y, too := got.([]any)
	if isList && too && len(x) == len(y) {
		for i := range x {
			out = append(out, differ(fmt.Sprintf("%s[%d]", at, i), x[i], y[i], whole)...)
		}
		return out
	}
	if !reflect.DeepEqual(want, got) {
		out = append(out, fmt.Sprintf("%s is %.200v, want %.200v", at, got, want))
	}
	return out
}

// asJSON returns a value as it is after encoding and decoding as JSON.
func asJSON(v any) (out any) {
	text, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(text, &out)
	}
	if err != nil {
		panic(err) // v cannot be encoded as JSON
	}
	return out
}

func isNothing(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case []any:
		return len(v) == 0
	case map[string]any:
		for _, x := range v {
			if !isNothing(x) {
				return false
			}
		}
		return true
	}
	return reflect.ValueOf(v).IsZero()
}

package config

import (
	"bytes"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "rewrite the shipped config.toml")

const shipped = "../../../config.toml"

// config.toml contains every key with its default and an explanation, and loading it leaves the
// defaults unchanged.
func TestShippedFileIsTheDefaults(t *testing.T) {
	var want bytes.Buffer
	if err := Write(&want, Default()); err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(shipped, want.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(shipped)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want.Bytes()) {
		t.Fatal("config.toml differs from the defaults in the code; run make generate")
	}
	c, err := Load(shipped, nil)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(c, Default()) {
		t.Fatalf("the shipped file is read as\n%+v\nwant\n%+v", c, Default())
	}
	if _, err := c.Check(); err != nil {
		t.Fatal(err)
	}
}

func TestEveryFieldIsExplained(t *testing.T) {
	c := Default()
	eachField(reflect.ValueOf(&c).Elem(), func(section, key string, _ reflect.Value, f reflect.StructField) {
		if key == "" || !strings.HasSuffix(f.Tag.Get("doc"), ".") {
			t.Errorf("%s.%s has no key or no sentence", section, f.Name)
		}
	})
}

func TestTheEnvironmentOverridesTheFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "c.toml")
	if err := os.WriteFile(file, []byte("[server]\nlisten = \"127.0.0.1:1\"\ndata = \"from-file\"\n[limits]\nlogin_window = \"1m\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := Load(file, []string{
		"ATELIER_SERVER_DATA=from-env", "ATELIER_SERVER_TRUSTED_PROXIES=10.0.0.0/8, 192.168.0.0/16",
		"ATELIER_LIMITS_PIN_FAILURES=3", "ADMIN_ID=root", "ADMIN_PW=a long password", "ATELIER_ADMIN_ID=loses", "UNRELATED=1",
	})
	if err != nil {
		t.Fatal(err)
	}
	if c.Server.Listen != "127.0.0.1:1" || c.Server.Data != "from-env" || c.Limits.PINFailures != 3 ||
		c.Limits.LoginWindow.Std() != time.Minute || c.Admin.ID != "root" || c.Admin.Password != "a long password" ||
		len(c.Server.TrustedProxies) != 2 {
		t.Fatalf("the configuration is %+v", c)
	}
}

func TestMistakesAreReportedWithTheirLine(t *testing.T) {
	for _, tc := range []struct{ name, file, env, want string }{
		{"unknown key", "[server]\n\nlistn = \"x\"\n", "", "line 3: unknown key server.listn"},
		{"a text for a number", "[limits]\nlogin_failures = \"many\"\n", "", "line 2: limits.login_failures must be a whole number, like 10"},
		{"a number for a text", "[admin]\npassword = 4711\n", "", `line 2: admin.password must be a string in quotation marks, like "a"`},
		{"a number for a switch", "[log]\naccess = 1\n", "", "line 2: log.access must be true or false"},
		{"a text for a list", "[server]\ntrusted_proxies = \"a\"\n", "", "line 2: server.trusted_proxies must be a list of strings"},
		{"a text for tables", "[live]\nice_servers = \"x\"\n", "", "line 2: live.ice_servers must be a list of tables"},
		{"within a table", "[[commerce.capabilities]]\nname = 1\n", "", "line 2: commerce.capabilities.name must be a string"},
		{"a value for a section", "server = 1\n", "", "line 1: server must be a table"},
		{"a number too large", "[limits]\nlogin_failures = 99999999999999999999\n", "", "line 2: decimal number is too large"},
		{"bad duration", "[live]\nidle_timeout = \"soon\"\n", "", `line 2: live.idle_timeout: "soon" is not a duration`},
		{"not TOML", "[server\n", "", "line 1"},
		{"unknown variable", "", "ATELIER_SERVER_LISTN=x", "unknown key ATELIER_SERVER_LISTN"},
		{"bad number", "", "ATELIER_LIMITS_PIN_FAILURES=x", "not a whole number"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "c.toml")
			if err := os.WriteFile(file, []byte(tc.file), 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := Load(file, []string{tc.env})
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Fatalf("got %v, want an error with %q", err, tc.want)
			}
			// The folder has a random number.
			if text := strings.ReplaceAll(err.Error(), file, ""); strings.Contains(text, "4711") || strings.Contains(text, "struct") || strings.Contains(text, "config.") {
				t.Errorf("the error contains the value or Go terms: %s", text)
			}
		})
	}
}

// The default is within the bounds, and values just outside are refused.
func TestEveryNumberHasBounds(t *testing.T) {
	c := Default()
	eachField(reflect.ValueOf(&c).Elem(), func(section, key string, v reflect.Value, f reflect.StructField) {
		b := boundsOf(f)
		number := v.Type() == reflect.TypeFor[int]() || v.Type() == reflect.TypeFor[Duration]()
		if number != (b.min != "") {
			t.Errorf("%s.%s has no min in its tag", section, key)
		}
		if !b.allow(v) {
			t.Errorf("the default of %s.%s is outside its bounds: %s", section, key, b)
		}
		was := v.Int
		if !number {
			return
		}
		for outside, ok := range map[int64]bool{amount(v.Type(), b.min) - 1: true, amount(v.Type(), orMin(b)) + 1: b.max != ""} {
			if !ok {
				continue
			}
			before := was()
			v.SetInt(outside)
			if _, err := c.Check(); err == nil || !strings.Contains(err.Error(), section+"."+key+" must be ") {
				t.Errorf("%s.%s = %d is outside its bounds, got the error %v", section, key, outside, err)
			}
			v.SetInt(before)
		}
	})
}

func orMin(b bounds) string {
	if b.max != "" {
		return b.max
	}
	return b.min
}

// A key that no code reads has no effect, and its documentation is false.
func TestEveryKeyIsRead(t *testing.T) {
	read := map[string]bool{}
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			// Checks in this package do not count as a use. A key must be used elsewhere, or by a
			// method.
			if fn, ok := n.(*ast.FuncDecl); ok && filepath.Dir(path) == "../config" && (strings.HasPrefix(fn.Name.Name, "check") || fn.Name.Name == "Check" || fn.Name.Name == "applyEnvironment") {
				return false
			}
			if s, ok := n.(*ast.SelectorExpr); ok {
				read[s.Sel.Name] = true
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	eachField(reflect.ValueOf(Default()), func(section, key string, _ reflect.Value, f reflect.StructField) {
		if !read[f.Name] {
			t.Errorf("no code reads %s.%s", section, key)
		}
	})
}

func TestCheckReturnsErrorsAndWarnings(t *testing.T) {
	for _, tc := range []struct {
		name   string
		change func(*Config)
		err    string
		warn   string
	}{
		{"fine", func(*Config) {}, "", ""},
		{"mode", func(c *Config) { c.Server.Mode = "cloud" }, "server.mode", ""},
		{"certificate without key", func(c *Config) { c.Server.TLSCert = "x" }, "must be set together", ""},
		{"proxy", func(c *Config) { c.Server.TrustedProxies = []string{"10.0.0.1"} }, "trusted_proxies", ""},
		{"everybody trusted", func(c *Config) { c.Server.TrustedProxies = []string{"0.0.0.0/0"} }, "", "everybody"},
		{"unknown proxy", func(c *Config) { c.Server.PublicURL = "https://w.example.org" }, "", "trusted_proxies"},
		{"known proxy", func(c *Config) {
			c.Server.PublicURL, c.Server.TrustedProxies = "https://w.example.org", []string{"127.0.0.1/32"}
		}, "", ""},
		{"public without TLS", func(c *Config) { c.Server.Listen = "0.0.0.0:80" }, "", "in the clear"},
		{"public metrics", func(c *Config) { c.Server.InternalListen = "0.0.0.0:90" }, "", "metrics"},
		{"short key", func(c *Config) { c.Session.Key = "short" }, "session.key", ""},
		{"negative", func(c *Config) { c.Limits.ReadsPerMinute = -1 }, "limits.reads_per_minute must be at least 0", ""},
		{"too long", func(c *Config) { c.Handler.TTL = Duration(time.Hour) }, "handler.ttl must be from 1m to 30m", ""},
		{"not a choice", func(c *Config) { c.Log.Format = "xml" }, `log.format must be "text" or "json"`, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := Default()
			tc.change(&c)
			warnings, err := c.Check()
			if (err == nil) != (tc.err == "") || err != nil && !strings.Contains(err.Error(), tc.err) {
				t.Fatalf("error %v, want %q", err, tc.err)
			}
			if all := strings.Join(warnings, "\n"); !strings.Contains(all, tc.warn) || tc.warn == "" && tc.err == "" && all != "" {
				t.Fatalf("warnings %q, want %q", all, tc.warn)
			}
		})
	}
}

// The profile can be a table in the file, or JSON in the environment. Loading the output of
// checkconfig returns the same value.
func TestListsOfTablesAreReadAndWritten(t *testing.T) {
	file := filepath.Join(t.TempDir(), "c.toml")
	if err := os.WriteFile(file, []byte(`
[[commerce.capabilities]]
name = "com.example.a"
version = "2026-01-23"
extends = ["com.example.b"]
config = {deep = {x = 1, "y z" = [true, "q\"uote"]}}
`), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := Load(file, []string{`ATELIER_COMMERCE_PAYMENT_HANDLERS=[{"id":"h","name":"com.example.h","version":"2026-01-23"}]`})
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Commerce.Capabilities) != 1 || c.Commerce.Capabilities[0].Extends[0] != "com.example.b" || c.Commerce.PaymentHandlers[0].ID != "h" {
		t.Fatalf("the commerce settings are %+v", c.Commerce)
	}
	var b bytes.Buffer
	if err := Write(&b, c); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	again, err := Load(file, nil)
	if err != nil {
		t.Fatalf("%v in\n%s", err, b.String())
	}
	if !reflect.DeepEqual(again.Commerce, c.Commerce) {
		t.Fatalf("after writing and reading, the profile is\n%+v\nwant\n%+v", again.Commerce, c.Commerce)
	}
	if _, err := Load("", []string{`ATELIER_COMMERCE_SERVICES=[{"nmae":"x"}]`}); err == nil {
		t.Fatal("an unknown field was accepted")
	}
	for value, want := range map[string]string{
		`[{"name":1}]`:              "name cannot be number",
		`{"name":"com.example.a"}`:  "the value cannot be object",
		`[{"name":"com.example"}]]`: "there is text after it",
	} {
		if _, err := Load("", []string{"ATELIER_COMMERCE_SERVICES=" + value}); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "Go ") {
			t.Errorf("%s: the error is %v, want one with %q", value, err, want)
		}
	}
}

// The test adds the example to the shipped file as described in the example's text.
func TestTheExampleCapabilitiesCanBeLoaded(t *testing.T) {
	b, err := os.ReadFile(shipped)
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Replace(string(b), "\ncapabilities = []\n", "\n", 1)
	var example strings.Builder
	_, after, found := strings.Cut(text, "\n# [[commerce.capabilities]]\n")
	if !found {
		t.Fatal("config.toml has no example")
	}
	for line := range strings.Lines("# [[commerce.capabilities]]\n" + after) {
		if !strings.HasPrefix(line, "#") {
			break
		}
		example.WriteString(strings.TrimPrefix(strings.TrimPrefix(line, "#"), " "))
	}
	file := filepath.Join(t.TempDir(), "c.toml")
	if err := os.WriteFile(file, []byte(text+example.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := Load(file, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := c.Commerce.Capabilities; len(got) != 2 || len(got[1].Extends) != 1 || got[1].Extends[0] != got[0].Name || got[1].Config["rate"] != int64(2) {
		t.Fatalf("the capabilities are %+v", got)
	}
}

func TestExtendsIsANameOrAList(t *testing.T) {
	for extends, want := range map[string]Names{`"com.example.b"`: {"com.example.b"}, `["com.example.b", "com.example.c"]`: {"com.example.b", "com.example.c"}, `[]`: {}} {
		file := filepath.Join(t.TempDir(), "c.toml")
		if err := os.WriteFile(file, []byte("[[commerce.capabilities]]\nname = \"com.example.a\"\nextends = "+extends+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		inFile, err := Load(file, nil)
		if err != nil {
			t.Fatal(err)
		}
		inEnvironment, err := Load("", []string{`ATELIER_COMMERCE_CAPABILITIES=[{"name":"com.example.a","extends":` + extends + `}]`})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []Config{inFile, inEnvironment} {
			if got := c.Commerce.Capabilities[0].Extends; !reflect.DeepEqual(got, want) {
				t.Errorf("extends = %s is read as %v", extends, got)
			}
		}
	}
	if _, err := Load("", []string{`ATELIER_COMMERCE_CAPABILITIES=[{"name":"com.example.a","extends":{"b":1}}]`}); err == nil || !strings.Contains(err.Error(), "a name or a list of names") {
		t.Errorf("an object as extends: got the error %v", err)
	}
}

func TestSecretsAreHiddenWhenWritten(t *testing.T) {
	c := Default()
	c.Admin.Password, c.Session.Key = "hunter2-hunter2", "0123456789abcdef0123456789abcdef"
	var b bytes.Buffer
	if err := Write(&b, c); err != nil {
		t.Fatal(err)
	}
	b.WriteString(strings.Join([]string{sprint("%v", c), sprint("%+v", c), sprint("%#v", c), sprint("%s", c.Admin), sprint("%x", c.Admin), sprint("%q", c.Session)}, ""))
	for _, s := range []string{"hunter2", "0123456789abcdef", "68756e74"} {
		if strings.Contains(b.String(), s) {
			t.Fatalf("a secret is visible in %s", b.String())
		}
	}
}

func sprint(format string, x any) string { return fmt.Sprintf(format, x) }

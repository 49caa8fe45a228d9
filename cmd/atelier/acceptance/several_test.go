package acceptance

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// With TEST_NODES=3, the common server is a cluster of three nodes, and only the tests of the files
// below run. They depend on data that the nodes share, so their results can differ from those on
// one node. With LONG_TESTS=1, all tests run.
var onSeveralNodes = map[string]string{
	"attendees logins presence resetpins rights sessions":                               "presence and rights are known on every node",
	"people signin operator":                                                            "grants of people end on every node",
	"chat control directs events live protocol pulse replay socket sockets ticks wire":  "frames come from the owner, whichever node a client uses",
	"comments help notes offer polls queue quizzes rehearsal teaching":                  "commands are forwarded to the owner, and read where they are answered",
	"certificates codelabs freshness listing personal race summary":                     "a read shows a write on another node",
	"git gitpush publishing samples sharedcode workspacecopy workspacefiles workspaces": "trees of code are shared",
	"archive archivefiles files images materials submissions takeout":                   "an upload to one node is read on another",
	"checks exports webhooks":                                                           "rows of the store are read on every node",
	"handler handler_events handler_keys tokens":                                        "a token is used once on all nodes",
	"erase":              "erased data is on no node",
	"badattempts limits": "failed attempts are counted for all nodes",
}

// onAnyNumber contains the files whose tests need no second node. They test behaviour that is the
// same on any number of nodes, or they start their own servers.
var onAnyNumber = map[string]string{
	"accesslog ai audit badinput compressed cors documents drift frames health internal proxy tls": "a node answers this without the others",
	"app commerce": "every node serves it by itself",
	"backend backup deploy deploycluster dockerfile formats formats_folder formats_make formats_read formats_rows formats_serve formats_tokens gitleak releases releases_make": "it starts servers of its own",
	"handler_kill kill killfiles lifecycle load load_bodies memory operate readonly receivers signals_linux tomorrow upgrade clientgone_linux fanout":                          "it starts servers of its own",
	"nodes nodes_clock nodes_disk nodes_keys nodes_place nodes_tokens pollnodes":                                                                                               "it starts nodes of its own",
	"canary fuzz generators handler_bench":                                    "it concerns one server, or runs only on request",
	"client class contract handler_client handler_canary server main several": "no tests, or tests of this suite",
}

// named returns the file names, such as NAME_test.go, for the keys of one of these maps.
func named(groups map[string]string) map[string]bool {
	files := map[string]bool{}
	for names := range groups {
		for name := range strings.FieldsSeq(names) {
			files[name+"_test.go"] = true
		}
	}
	return files
}

// testsOf returns the names of the tests in each file of this package.
func testsOf() (map[string][]string, error) {
	paths, err := filepath.Glob("*_test.go")
	if err != nil {
		return nil, err
	}
	tests := map[string][]string{}
	for _, path := range paths {
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		tests[path] = nil
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && strings.HasPrefix(fn.Name.Name, "Test") && fn.Name.Name != "TestMain" {
				tests[path] = append(tests[path], fn.Name.Name)
			}
		}
	}
	return tests, nil
}

// chooseTests limits a run on several nodes to the tests that can differ there, unless -run names
// others.
func chooseTests() error {
	if os.Getenv("TEST_NODES") == "" || os.Getenv("LONG_TESTS") != "" || flag.Lookup("test.run").Value.String() != "" {
		return nil
	}
	tests, err := testsOf()
	if err != nil {
		return err
	}
	var chosen []string
	for file := range named(onSeveralNodes) {
		chosen = append(chosen, tests[file]...)
	}
	return flag.Set("test.run", "^("+strings.Join(chosen, "|")+")$")
}

// A new file must be added to one of the two lists.
func TestEachFileIsListedForOneOrSeveralNodes(t *testing.T) {
	t.Parallel()
	tests, err := testsOf()
	if err != nil {
		t.Fatal(err)
	}
	several, any := named(onSeveralNodes), named(onAnyNumber)
	for file := range tests {
		if several[file] == any[file] {
			t.Errorf("%s is in %s of onSeveralNodes and onAnyNumber", file, map[bool]string{true: "both", false: "neither"}[any[file]])
		}
	}
	for _, listed := range []map[string]bool{several, any} {
		for file := range listed {
			if _, there := tests[file]; !there {
				t.Errorf("%s is listed, but does not exist", file)
			}
		}
	}
}

// A test that does not run in parallel has the reason in its first line.
func TestEachTestRunsInParallelOrGivesAReason(t *testing.T) {
	t.Parallel()
	tests, err := testsOf()
	if err != nil {
		t.Fatal(err)
	}
	for file, names := range tests {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			_, body, _ := strings.Cut(string(text), "\nfunc "+name+"(t *testing.T) {")
			first, body, _ := strings.Cut(body, "\n")
			if !strings.HasPrefix(body, "\tt.Parallel()") && !strings.HasPrefix(first, " // alone: ") {
				t.Errorf("%s: %s does not begin with t.Parallel(), and its first line lacks \"// alone: why\"", file, name)
			}
		}
	}
}

// atOnce is the number of tests that run concurrently without -parallel. It does not depend on the
// number of CPUs, because tests wait more than they compute.
const atOnce = 4

func runBeside() error {
	isSet := false
	flag.Visit(func(f *flag.Flag) { isSet = isSet || f.Name == "test.parallel" })
	if isSet {
		return nil
	}
	if os.Getenv("TEST_NODES") != "" {
		// Requests alternate between the nodes. A test that runs alone therefore uses the same
		// nodes in each run.
		return flag.Set("test.parallel", "1")
	}
	return flag.Set("test.parallel", fmt.Sprint(atOnce))
}

// inLongRuns skips a test unless LONG_TESTS=1 is set. Such a test is slow, and a faster test
// covers the same behaviour, or the behaviour seldom changes.
func inLongRuns(t *testing.T, why string) {
	t.Helper()
	if os.Getenv("LONG_TESTS") == "" {
		t.Skip("runs in long runs only: " + why)
	}
}

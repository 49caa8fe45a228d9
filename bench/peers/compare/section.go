package compare

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"time"
)

// section returns the results in Markdown.
func (c *config) section(scenes []scenario, all []contestant, found map[string][]outcome) string {
	var names []string
	for _, p := range all {
		names = append(names, p.name)
	}
	var b strings.Builder
	b.WriteString("## Other servers\n\n")
	fmt.Fprintf(&b, "[peers/README.md](peers/README.md) describes each server, and where the comparison is not fair. %s, %s, %s of warm-up and %s measured for each run, "+
		"texts of %d bytes, `peers compare %s`. Medians of %d rounds, each with all servers (idle: one round). \"of the floor\" is the ratio within a round.\n\n",
		time.Now().UTC().Format("2 January 2006"), machine(found), c.times.warmup, c.times.duration, c.length, strings.Join(c.shown(), " "), c.rounds)
	b.WriteString(versions(c.node) + "\n\n")
	if c.note != "" {
		b.WriteString(c.note + "\n\n")
	}
	b.WriteString("¹ In at least one round the generator was full or late. A full generator means that the server may be faster. The latencies include the delay of a late generator.\n")
	for _, s := range scenes {
		b.WriteString("\n" + table(&s, names, found[s.name]))
	}
	return b.String()
}

// shown returns the arguments without the note, and without paths, which differ on other machines.
func (c *config) shown() []string {
	hidden := []string{"bench", "into", "keep", "node", "note"}
	var out []string
	for i := 0; i < len(c.arguments); i++ {
		name, _, joined := strings.Cut(strings.TrimLeft(c.arguments[i], "-"), "=")
		switch {
		case name == "written":
		case !slices.Contains(hidden, name):
			out = append(out, c.arguments[i])
		case !joined:
			i++
		}
	}
	return out
}

// machine describes the machine of the measurements, from the reports.
func machine(found map[string][]outcome) string {
	for _, outcomes := range found {
		for _, o := range outcomes {
			if o.report == nil {
				continue
			}
			e := o.report.Environment
			return fmt.Sprintf("%s processors (%s), Linux %s, generator and server on them together", e["processors"], e["processor"], e["kernel"])
		}
	}
	return "nothing was measured"
}

// libraries contains the modules whose versions are listed.
var libraries = []string{
	"github.com/centrifugal/centrifuge", "github.com/nats-io/nats-server/v2", "github.com/gorilla/websocket", "github.com/coder/websocket",
}

// versions lists the versions of the compared libraries, and of Go and Node.js.
func versions(node string) string {
	var out []string
	if info, ok := debug.ReadBuildInfo(); ok {
		out = append(out, "Go "+strings.TrimPrefix(info.GoVersion, "go"))
		for _, m := range info.Deps {
			if slices.Contains(libraries, m.Path) {
				out = append(out, strings.TrimPrefix(m.Path, "github.com/")+" "+m.Version)
			}
		}
	}
	if b, err := exec.Command("node", "--version").Output(); err == nil {
		out = append(out, "Node "+strings.TrimPrefix(strings.TrimSpace(string(b)), "v"))
	}
	var lock struct {
		Packages map[string]struct {
			Version string `json:"version"`
		} `json:"packages"`
	}
	b, err := os.ReadFile(filepath.Join(node, "package-lock.json"))
	if err == nil && json.Unmarshal(b, &lock) == nil {
		for _, name := range []string{"ws", "socket.io"} {
			out = append(out, name+" "+lock.Packages["node_modules/"+name].Version)
		}
	}
	return "Versions: " + strings.Join(out, ", ") + "."
}

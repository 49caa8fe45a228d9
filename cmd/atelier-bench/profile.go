//go:build linux

package main

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/pelletier/go-toml/v2"
)

// runCommand exists only for the help text. [expand] replaces it with the profile's own command
// line before kong parses the command line.
type runCommand struct {
	Profile string   `arg:"" help:"Name of an included profile, or a TOML file."`
	Flags   []string `arg:"" optional:"" passthrough:"" help:"Flags of its scenario; they override the profile."`
}

// Run is called by kong if a flag precedes the name of the profile, because [run] does not expand
// such a command line.
func (c *runCommand) Run() error {
	return errors.New("a profile must follow 'run', before all flags")
}

// expand returns the command line of a profile, with further arguments.
func expand(name string, more []string) ([]string, error) {
	p, err := loadProfile(name)
	if err != nil {
		return nil, err
	}
	if p.scenario == "run" {
		return nil, fmt.Errorf("profile %s has the scenario run: a profile cannot run another profile", name)
	}
	return p.args(more), nil
}

// profilesCommand lists the profiles.
type profilesCommand struct{}

// Run is called by kong.
func (profilesCommand) Run() error {
	all, err := includedProfiles()
	if err != nil {
		return err
	}
	t := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	for _, p := range all {
		fmt.Fprintf(t, "%s\t%s\t%s\n", p.name, p.scenario, p.description)
	}
	return t.Flush()
}

//go:embed profiles/*.toml
var included embed.FS

// profile is a TOML file with a scenario, its flags, and optional stages:
//
//	scenario = "fanout"
//	description = "A rising load"
//	subscribers = 1000
//	threshold = ["p99<50ms", "lost==0"]
//
//	[[stage]]
//	duration = "10s"
//	rate = 100
//
// A stage of the chaos scenario has a fault instead of a rate. All other members are flags of the
// scenario, by name.
type profile struct {
	name, scenario, description string
	// flags contains the flags with their names, without the dashes. A flag with several values
	// occurs several times.
	flags []profileFlag
}

type profileFlag struct{ name, value string }

// includedProfiles returns the profiles in the program.
func includedProfiles() ([]*profile, error) {
	files, err := included.ReadDir("profiles")
	if err != nil {
		return nil, err
	}
	var out []*profile
	for _, file := range files {
		p, err := loadProfile(strings.TrimSuffix(file.Name(), ".toml"))
		if err != nil {
			return nil, err
		}
		out = append(out, p)
	}
	return out, nil
}

// loadProfile reads a profile: an included one by its name, or a file.
func loadProfile(name string) (*profile, error) {
	text, err := included.ReadFile("profiles/" + name + ".toml")
	if err != nil {
		if text, err = os.ReadFile(name); errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("profile %q is neither included nor a file", name)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("profile: %w", err)
	}
	p, err := parseProfile(text)
	if err != nil {
		return nil, fmt.Errorf("profile %s: %w", name, err)
	}
	p.name = strings.TrimSuffix(path.Base(name), ".toml")
	return p, nil
}

// parseProfile parses the text of a profile.
func parseProfile(text []byte) (*profile, error) {
	var members map[string]any
	if err := toml.Unmarshal(text, &members); err != nil {
		return nil, err
	}
	p := &profile{}
	var problems []error
	take := func(name string) string {
		v, ok := members[name].(string)
		if !ok && members[name] != nil {
			problems = append(problems, fmt.Errorf("%s is not text", name))
		}
		delete(members, name)
		return v
	}
	p.scenario, p.description = take("scenario"), take("description")
	if p.scenario == "" {
		problems = append(problems, errors.New("there is no scenario"))
	}
	stages, err := stagesText(members["stage"])
	problems = append(problems, err)
	delete(members, "stage")
	if stages != "" {
		p.flags = append(p.flags, profileFlag{"stages", stages})
	}
	names := make([]string, 0, len(members))
	for name := range members {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		values, err := flagValues(members[name])
		if err != nil {
			problems = append(problems, fmt.Errorf("%s: %w", name, err))
		}
		for _, v := range values {
			p.flags = append(p.flags, profileFlag{name, v})
		}
	}
	return p, errors.Join(problems...)
}

// stagesText formats a list of stages in the syntax of the flag.
func stagesText(v any) (string, error) {
	if v == nil {
		return "", nil
	}
	list, ok := v.([]any)
	if !ok {
		return "", errors.New("stage: write each stage as a table that begins with [[stage]]")
	}
	var out []string
	for i, item := range list {
		stage, _ := item.(map[string]any)
		for _, key := range slices.Sorted(maps.Keys(stage)) {
			if !slices.Contains([]string{"duration", "rate", "fault"}, key) {
				return "", fmt.Errorf("stage %d has %q: a stage has a duration, and a rate or a fault", i+1, key)
			}
		}
		during, text := stage["duration"].(string)
		what := stage["rate"]
		if fault, some := stage["fault"].(string); some {
			what = fault
		}
		one, err := flagValues(what)
		if !text || err != nil || len(one) != 1 || len(stage) != 2 {
			return "", fmt.Errorf("stage %d: a stage has a duration, and a rate or a fault", i+1)
		}
		out = append(out, during+"@"+one[0])
	}
	return strings.Join(out, ","), nil
}

// flagValues formats a value, or a list of them, in the syntax of flags.
func flagValues(v any) ([]string, error) {
	switch v := v.(type) {
	case string:
		return []string{v}, nil
	case bool, int64, float64:
		return []string{fmt.Sprint(v)}, nil
	case []any:
		var out []string
		for _, item := range v {
			_, list := item.([]any)
			one, err := flagValues(item)
			if err != nil || list {
				return nil, errors.New("a list can contain only texts, numbers, true and false")
			}
			out = append(out, one...)
		}
		return out, nil
	}
	return nil, errors.New("want text, a number, true or false, or a list of these")
}

// args returns the command line of the profile with more flags, which take precedence. If these
// include --url or --spawn, the profile's own choice of the two is ignored. If they include --rate
// or --faults, the profile's stages are ignored.
func (p *profile) args(more []string) []string {
	given := map[string]bool{}
	for _, arg := range more {
		if name, ok := strings.CutPrefix(arg, "--"); ok {
			name, _, _ = strings.Cut(name, "=")
			given[name] = true
		}
	}
	if given["url"] || given["spawn"] {
		given["url"], given["spawn"] = true, true
	}
	if given["rate"] || given["faults"] {
		given["stages"] = true
	}
	args := []string{p.scenario}
	for _, f := range p.flags {
		if !given[f.name] {
			args = append(args, "--"+f.name+"="+f.value)
		}
	}
	return append(args, more...)
}

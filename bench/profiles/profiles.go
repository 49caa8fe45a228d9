// Package profiles reads load profiles: TOML files with a scenario, its flags, and optional stages.
// Some are included in the program.
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
// A stage of the chaos scenario has a fault instead of a rate.
//
// All other members are flags of the scenario, by name.
package profiles

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

	"github.com/pelletier/go-toml/v2"
)

//go:embed *.toml
var included embed.FS

// Profile is a named load.
type Profile struct {
	Name, Scenario, Description string
	// Flags are by name, without the dashes; a flag with several values occurs several times.
	Flags []Flag
}

// Flag is one flag and its value.
type Flag struct{ Name, Value string }

// Included are the profiles in the program.
func Included() ([]*Profile, error) {
	files, err := fs.Glob(included, "*.toml")
	if err != nil {
		return nil, err
	}
	var out []*Profile
	for _, file := range files {
		p, err := Load(strings.TrimSuffix(file, ".toml"))
		if err != nil {
			return nil, err
		}
		out = append(out, p)
	}
	return out, nil
}

// Load reads a profile: an included one by its name, or a file.
func Load(name string) (*Profile, error) {
	text, err := included.ReadFile(name + ".toml")
	if err != nil {
		if text, err = os.ReadFile(name); errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("profile %q is neither included nor a file", name)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("profile: %w", err)
	}
	p, err := Parse(text)
	if err != nil {
		return nil, fmt.Errorf("profile %s: %w", name, err)
	}
	p.Name = strings.TrimSuffix(path.Base(name), ".toml")
	return p, nil
}

// Parse parses the text of a profile.
func Parse(text []byte) (*Profile, error) {
	var members map[string]any
	if err := toml.Unmarshal(text, &members); err != nil {
		return nil, err
	}
	p := &Profile{}
	var problems []error
	take := func(name string) string {
		v, ok := members[name].(string)
		if !ok && members[name] != nil {
			problems = append(problems, fmt.Errorf("%s is not text", name))
		}
		delete(members, name)
		return v
	}
	p.Scenario, p.Description = take("scenario"), take("description")
	if p.Scenario == "" {
		problems = append(problems, errors.New("there is no scenario"))
	}
	stages, err := stages(members["stage"])
	problems = append(problems, err)
	delete(members, "stage")
	if stages != "" {
		p.Flags = append(p.Flags, Flag{"stages", stages})
	}
	names := make([]string, 0, len(members))
	for name := range members {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		values, err := values(members[name])
		if err != nil {
			problems = append(problems, fmt.Errorf("%s: %w", name, err))
		}
		for _, v := range values {
			p.Flags = append(p.Flags, Flag{name, v})
		}
	}
	return p, errors.Join(problems...)
}

// stages formats a list of stages in the syntax of the flag.
func stages(v any) (string, error) {
	if v == nil {
		return "", nil
	}
	list, ok := v.([]any)
	if !ok {
		return "", errors.New("stages are written as [[stage]]")
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
		one, err := values(what)
		if !text || err != nil || len(one) != 1 || len(stage) != 2 {
			return "", fmt.Errorf("stage %d: a stage has a duration, and a rate or a fault", i+1)
		}
		out = append(out, during+"@"+one[0])
	}
	return strings.Join(out, ","), nil
}

// values formats a value, or a list of them, in the syntax of flags.
func values(v any) ([]string, error) {
	switch v := v.(type) {
	case string:
		return []string{v}, nil
	case bool, int64, float64:
		return []string{fmt.Sprint(v)}, nil
	case []any:
		var out []string
		for _, item := range v {
			_, list := item.([]any)
			one, err := values(item)
			if err != nil || list {
				return nil, errors.New("a list has texts and numbers only")
			}
			out = append(out, one...)
		}
		return out, nil
	}
	return nil, fmt.Errorf("%T is not a value of a flag", v)
}

// Args returns the command line of the profile with more flags, which take precedence. If these
// include --url or --spawn, the profile's own choice of the two is ignored.
func (p *Profile) Args(more []string) []string {
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
	args := []string{p.Scenario}
	for _, f := range p.Flags {
		if !given[f.Name] {
			args = append(args, "--"+f.Name+"="+f.Value)
		}
	}
	return append(args, more...)
}

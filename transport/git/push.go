package git

import (
	"io"
	"strings"

	"atelier/actors/code"
)

// maxCommands bounds the references changed by a push.
const maxCommands = 500

// Command is the change of a branch in a push. Old is the branch's commit when the client last
// fetched it, or "" if the branch did not exist. New is the branch's next commit, or "" to remove
// the branch.
type Command struct{ Branch, Old, New string }

// Push is a client's request to change branches.
type Push struct {
	Commands []Command
	band     bool
	report   bool
	refs     []string // of the commands, under the client's names
}

// ParsePush parses the commands of a push from r. If HasPack then returns true, a pack follows the
// commands. The errors are *code.Problem, or errors of r.
func ParsePush(r io.Reader) (*Push, error) {
	p := &Push{}
	l := lines{r}
	for {
		line, end, err := l.next()
		if err == io.EOF {
			err = code.Fault("the request is cut off")
		}
		if err != nil {
			return nil, err
		}
		if end {
			return p, nil
		}
		line, able, first := strings.Cut(line, "\x00")
		if first {
			for one := range strings.FieldsSeq(able) {
				p.band = p.band || one == "side-band-64k"
				p.report = p.report || one == "report-status"
			}
		}
		if strings.HasPrefix(line, "shallow ") {
			continue // no line is needed: the caller checks that all commits exist
		}
		if err := p.command(line); err != nil {
			return nil, err
		}
	}
}

func (p *Push) command(line string) error {
	before, rest, _ := strings.Cut(line, " ")
	after, ref, _ := strings.Cut(rest, " ")
	if !idForm.MatchString(before) || !idForm.MatchString(after) || before == noID && after == noID {
		return code.Fault("the request is not in Git's format")
	}
	if len(p.Commands) == maxCommands {
		return code.Fault("a push changes at most %d branches", maxCommands)
	}
	p.refs = append(p.refs, ref)
	p.Commands = append(p.Commands, Command{strings.TrimPrefix(ref, BranchPrefix), known(before), known(after)})
	return nil
}

func known(id string) string {
	if id == noID {
		return ""
	}
	return id
}

// Check validates the branches' names.
func (p *Push) Check() error {
	for i, c := range p.Commands {
		if !strings.HasPrefix(p.refs[i], BranchPrefix) {
			return code.Fault("this server stores only branches")
		}
		if err := code.CheckName(c.Branch); err != nil {
			return err
		}
	}
	return nil
}

// HasPack reports whether a pack follows the commands.
func (p *Push) HasPack() bool {
	for _, c := range p.Commands {
		if c.New != "" {
			return true
		}
	}
	return false
}

// Tips returns the new commits of the branches.
func (p *Push) Tips() (out []string) {
	for _, c := range p.Commands {
		if c.New != "" {
			out = append(out, c.New)
		}
	}
	return out
}

// Report returns the response to a push. If reason is "", all commands were executed. Otherwise
// none was executed, for this reason. unpacked means that the pack was complete, so the reason is
// not a fault of the pack.
func (p *Push) Report(reason string, unpacked bool) []byte {
	if !p.report || len(p.Commands) == 0 {
		return nil
	}
	unpackStatus := "ok"
	if !unpacked { // Git shows the reason, and for each branch the usual text of a Git server
		unpackStatus, reason = oneLine(reason), "unpacker error"
	}
	status := appendLine(nil, "unpack %s\n", unpackStatus)
	for _, ref := range p.refs {
		if reason == "" {
			status = appendLine(status, "ok %s\n", ref)
		} else {
			status = appendLine(status, "ng %s %s\n", ref, oneLine(reason))
		}
	}
	status = append(status, flush...)
	if !p.band {
		return status
	}
	var out []byte
	for len(status) > 0 {
		n := min(len(status), maxBand)
		out = appendLine(out, "\x01%s", status[:n])
		status = status[n:]
	}
	return append(out, flush...)
}

// oneLine keeps a reason on one line.
func oneLine(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, s)
	return strings.ToValidUTF8(s[:min(len(s), 1000)], "")
}

package demo

import (
	"embed"
	"fmt"
	"io/fs"
	"path"
	"strconv"

	"atelier/bench/api"
)

// The code of the steps. People who fell behind take the state in which the next one
// begins.

//go:embed testdata/states
var states embed.FS

// checkedStep is the step, from 0, whose text asks for a check of one's work, and
// checkName the name of that.
const (
	checkedStep = 3
	checkName   = "tests"
)

type codeFile struct {
	Path    string `json:"path"`
	Content string `json:"content"`
}

// prepareCode makes the repository with a branch for the beginning of each step.
func prepareCode(client *api.Client, admin api.Session, lab string) error {
	do := func(where string, body any) error {
		if err := client.Send(admin, "POST", where, body); err != nil {
			return fmt.Errorf("prepare the code: %w", err)
		}
		return nil
	}
	module := []codeFile{{"go.mod", "module example.org/counter\n\ngo 1.22\n"}}
	err := do("/codeserver", map[string]any{"codelab_id": lab, "structure_type": "branch", "workspace_files": module})
	for step := 1; step <= 5 && err == nil; step++ {
		var files []codeFile
		if files, err = filesOf(step); err == nil && len(files) > 0 {
			err = do("/codeserver/"+lab+"/branches/main/files", map[string]any{"files": files, "commit_message": fmt.Sprintf("Begin of step %d", step)})
		}
		if err == nil {
			err = do("/codeserver/"+lab+"/branch", map[string]any{"step_number": step, "branch_type": "start"})
		}
	}
	return err
}

// filesOf are the files that are new when a step begins.
func filesOf(step int) (out []codeFile, err error) {
	dir := path.Join("testdata/states", strconv.Itoa(step))
	entries, err := fs.ReadDir(states, dir)
	if err != nil {
		return nil, nil // nothing is new
	}
	for _, e := range entries {
		b, err := states.ReadFile(path.Join(dir, e.Name()))
		if err != nil {
			return nil, err
		}
		out = append(out, codeFile{e.Name(), string(b)})
	}
	return out, nil
}

// catchesUp takes the code with which a step, from 0, begins, and goes on there; false
// when there is none.
func (p *person) catchesUp(step int) bool {
	a, err := p.demo.client.Do(&api.Request{
		Method: "GET", Path: fmt.Sprintf("/codeserver/%s/download?branch=step-%d-start&format=zip&as=attendee", p.demo.lab, step+1), Session: p.login,
	})
	if err != nil || a.Err() != nil {
		return false // an older server keeps the code to itself
	}
	p.stuck = false
	p.feel("fine")
	p.needNoHelp()
	p.chat(fmt.Sprintf("I took the code of step %d and go on from there.", step+1))
	p.enter(step)
	return true
}

// reportTests says how the tests went, as a program of the person would: of five one
// fails at first.
func (p *person) reportTests() {
	var access struct {
		Token string `json:"token"`
	}
	a, err := p.post("/check-access", nil)
	if err == nil {
		err = a.Decode(&access)
	}
	if err != nil {
		return // an older server knows no checks
	}
	body := `{"ok":true,"note":"ok  example.org/counter"}`
	if p.rng.IntN(5) == 0 {
		body = `{"ok":false,"note":"WARNING: DATA RACE"}`
	}
	a, err = p.demo.client.Do(&api.Request{Method: "POST", Path: "/check/" + checkName, Bearer: access.Token, Body: []byte(body)})
	if err == nil {
		err = a.Err()
	}
	if err != nil {
		p.demo.note("%s could not report the tests: %v", p.name, err)
	}
}

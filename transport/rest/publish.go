package rest

import (
	"maps"
	"slices"

	"atelier/actors/codelab"
	pb "atelier/actors/codelab/codelabpb"
	"atelier/actors/durable"
	"atelier/transport/archive"
	"atelier/transport/wire"
)

// changesRecord lists the changes in a newer version of a codelab (RULES.md, "Publishing").
type changesRecord struct {
	Steps                []stepChangeRecord `json:"steps"`
	StaleThreads         int                `json:"stale_threads" doc:"The threads whose text changes."`
	RemovedThreads       int                `json:"removed_threads" doc:"The threads that would be deleted with their step."`
	PeopleOnRemovedSteps int                `json:"people_on_removed_steps" doc:"The attendees who move to an earlier step."`
}

// updatedRecord is a run that was updated from its source.
type updatedRecord struct {
	codelabRecord
	changesRecord
}

type stepChangeRecord struct {
	ID     *string `json:"id" is:"Id" doc:"Null for a step that a dry run would add."`
	Title  string  `json:"title"`
	Was    *string `json:"was" doc:"The earlier title. Null if it is the same."`
	Change string  `json:"change" enum:"same|changed|added|removed|moved"`
}

// codeChangeRecord is a change to a branch or folder in a run's code.
type codeChangeRecord struct {
	Name   string `json:"name"`
	Change string `json:"change" enum:"changed|added|removed"`
}

func toChanges(p codelab.Published, dry bool) changesRecord {
	out := changesRecord{[]stepChangeRecord{}, p.StaleThreads, p.RemovedThreads, p.PeopleOnRemovedSteps}
	for _, st := range p.Steps {
		rec := stepChangeRecord{&st.ID, st.Title, wire.OrNull(st.Was), string(st.Change)}
		if dry && st.Change == codelab.Added {
			rec.ID = nil
		}
		out.Steps = append(out.Steps, rec)
	}
	return out
}

// dryRunRecord is the result that an import or publication would have.
type dryRunRecord struct {
	changesRecord
	LeftOut   []archive.LeftOut  `json:"left_out,omitempty" items:"..103" doc:"For a file: the parts that the codelab does not contain."`
	TitleFrom *string            `json:"title_from,omitempty" enum:"h1|header|name" doc:"For a tutorial: the source of its title, as in the response to an import."`
	Created   bool               `json:"created" doc:"A new codelab would be created."`
	TitleWas  *string            `json:"title_was" doc:"The title that the codelab would lose. Null if it stays."`
	SlugWas   *string            `json:"slug_was" doc:"The slug that the codelab would lose. Null if it stays."`
	Code      []codeChangeRecord `json:"code" doc:"For «update-from-source»: the branches or folders of the run's code that would be replaced by those of its source, with the run's own changes to them."`
}

// toDryRun returns the response to a dry run, except the code changes.
func toDryRun(p codelab.Published, leftOut []archive.LeftOut) dryRunRecord {
	out := dryRunRecord{changesRecord: toChanges(p, true), LeftOut: leftOut, Code: []codeChangeRecord{}}
	if p.Before.GetTitle() != p.Codelab.Title {
		out.TitleWas = wire.OrNull(p.Before.GetTitle())
	}
	if p.Before.GetSlug() != p.Codelab.Slug {
		out.SlugWas = wire.OrNull(p.Before.GetSlug())
	}
	return out
}

// codeChanges returns the changes to a run's code when the source's code replaces it. A source
// without code leaves the run's code unchanged.
func codeChanges(source, run *pb.Workspace) []codeChangeRecord {
	out := []codeChangeRecord{}
	if source == nil {
		return out
	}
	was := map[string]string{}
	for _, h := range run.GetHeads() {
		was[h.Name] = h.Tree
	}
	for _, h := range source.Heads {
		switch tree, known := was[h.Name]; {
		case !known:
			out = append(out, codeChangeRecord{h.Name, string(codelab.Added)})
		case tree != h.Tree:
			out = append(out, codeChangeRecord{h.Name, string(codelab.Altered)})
		}
		delete(was, h.Name)
	}
	for _, name := range slices.Sorted(maps.Keys(was)) {
		out = append(out, codeChangeRecord{name, string(codelab.Gone)})
	}
	return out
}

// publishMatch publishes into the codelab that has the file's slug, or creates a codelab with this
// slug. With dry it only reports the changes.
func (r *Request) publishMatch(in *archive.Incoming, dry bool) error {
	if in.Codelab.Slug == "" {
		return wire.Invalid("the file has no id with which to find its codelab: add a line like \"id: my-codelab\" before the title")
	}
	id, claimed, err := r.api.Codelabs.BySlug(in.Codelab.Slug)
	if err != nil {
		return err
	}
	if claimed {
		return durable.Reject(durable.Conflict, "another request is publishing a file with this id; try again")
	}
	if id != "" {
		return r.publishFile(in, id, dry)
	}
	if !dry {
		return r.importNew(in, true)
	}
	changes := changesRecord{Steps: []stepChangeRecord{}}
	for _, st := range in.Steps {
		changes.Steps = append(changes.Steps, stepChangeRecord{nil, st.Title, nil, string(codelab.Added)})
	}
	return r.JSON(dryRunRecord{changesRecord: changes, LeftOut: in.LeftOut, TitleFrom: wire.OrNull(string(in.TitleFrom)), Created: true, Code: []codeChangeRecord{}})
}

// keptOut lists the parts of a file that the target codelab does not take over. The first import
// made polls of the file's surveys, so only new surveys are listed.
func keptOut(in *archive.Incoming, has []*codelab.PollView) (out []archive.LeftOut) {
	switch {
	case len(in.Polls) == 0:
	case in.Whole:
		out = append(out, archive.LeftOut{File: "polls.json", Reason: "the codelab keeps its own", Code: archive.CodeUnknown})
	case slices.ContainsFunc(in.Polls, func(p *pb.Poll) bool {
		return !slices.ContainsFunc(has, func(h *codelab.PollView) bool { return h.Poll.GetQuestion() == p.Question })
	}):
		out = append(out, archive.LeftOut{Reason: "the surveys that are not polls yet: the codelab keeps its own polls", Code: archive.CodeUnknown})
	}
	if len(in.Quizzes) > 0 {
		out = append(out, archive.LeftOut{File: "quizzes.json", Reason: "the codelab keeps its own", Code: archive.CodeUnknown})
	}
	return out
}

// publishFile publishes a file into a codelab. With dry it only reports the changes.
func (r *Request) publishFile(in *archive.Incoming, id string, dry bool) error {
	w, err := r.api.Codelabs.Get(id)
	if err != nil {
		return err
	}
	r.Codelab = w
	b, reused, err := in.Version(w.View())
	if err != nil {
		return err
	}
	in.LeftOut = append(in.LeftOut, keptOut(in, w.View().Polls)...)
	releaseSlug := func() {}
	if b.Slug != "" && b.Slug != w.View().Meta.GetSlug() {
		switch has, _, err := r.api.Codelabs.BySlug(b.Slug); {
		case err != nil:
			return err
		case has != "" && has != id:
			in.LeftOut = append(in.LeftOut, archive.LeftOut{Reason: "its id: another codelab has it", Code: archive.CodeUnknown})
			b.Slug = ""
		case !dry:
			if releaseSlug, err = r.api.Codelabs.ClaimSlug(b.Slug, id); err != nil {
				return err
			}
		}
	}
	b.DryRun = dry
	made, err := r.publish(b, reused)
	if durable.Refused(err) {
		releaseSlug()
	}
	if err != nil {
		return err
	}
	if dry {
		out := toDryRun(made, in.LeftOut)
		out.TitleFrom = wire.OrNull(string(in.TitleFrom))
		return r.JSON(out)
	}
	changes := toChanges(made, false)
	return r.JSON(importedRecord{r.toCodelab(made.Codelab, true), in.LeftOut, wire.OrNull(string(in.TitleFrom)), false, &changes})
}

// publish sends the command. Until it returns, the files to which the command refers are protected
// from removal.
func (r *Request) publish(b codelab.Publish, uploads []string) (codelab.Published, error) {
	release, err := r.claimFiles("a file", uploads)
	if err != nil {
		return codelab.Published{}, err
	}
	defer release()
	v, err := r.ask(codelab.Command{Body: b, IfMatch: r.ifMatch()})
	if err != nil {
		return codelab.Published{}, err
	}
	return v.(codelab.Published), nil
}

// updateFromSource updates a run to its source's current state.
func updateFromSource(r *Request) error {
	dry, err := r.flag("dry_run")
	if err == nil {
		err = r.knows("dry_run")
	}
	if err != nil {
		return err
	}
	if err := r.decodeOptional(&struct{}{}); err != nil {
		return err
	}
	meta := r.Codelab.View().Meta
	if meta.GetSourceId() == "" {
		return durable.Reject(durable.Conflict, "this codelab is not a copy of another codelab")
	}
	source, err := r.api.Codelabs.Get(meta.SourceId)
	if durable.IsMissing(err) {
		return durable.Reject(durable.Conflict, "the codelab from which it was copied no longer exists")
	}
	if err != nil {
		return err
	}
	if !dry {
		// The locks prevent changes to the run's code and removal of the source's trees during the
		// copy. Texts and code are from the same moment.
		defer r.api.Workspaces.LockReading(r.Codelab.ID(), source.ID())()
	}
	from, run := source.View(), r.Codelab.View()
	switch {
	case run.Meta == nil:
		return errNoCodelab
	case from.Meta == nil:
		return durable.Reject(durable.Conflict, "the codelab from which it was copied no longer exists")
	}
	b, uploads := versionOf(from)
	if b.DryRun = dry; dry {
		made, err := r.publish(b, uploads)
		if err != nil {
			return err
		}
		out := toDryRun(made, nil)
		out.Code = codeChanges(from.Workspace, run.Workspace)
		return r.JSON(out)
	}
	made, err := r.publishWithWorkspace(from.Workspace, source.ID(), run.Workspace, b, uploads)
	if err != nil {
		return err
	}
	return r.JSON(updatedRecord{r.toCodelab(made.Codelab, true), toChanges(made, false)})
}

// versionOf returns a codelab as a newer version for its runs, and the files to which the codelab
// refers.
func versionOf(v *codelab.View) (b codelab.Publish, uploads []string) {
	m, quizzes, materials := v.Meta, []*pb.Quiz{}, []*pb.Material{}
	guide := m.GetGuideMarkdown()
	b = codelab.Publish{
		Title: m.Title, Description: m.Description, Author: m.Author, Guide: &guide, Steps: v.Steps,
		Quizzes: &quizzes, Materials: &materials, SourceID: m.Id,
	}
	quizzes = append(quizzes, v.Quizzes...)
	for _, p := range v.Polls {
		b.Polls = append(b.Polls, p.Poll)
	}
	for _, m := range v.Materials.All() {
		materials = append(materials, m)
	}
	return b, uploadsOf(materials)
}

// publishWithWorkspace does the same as publish, and also publishes the source's code w if it
// differs from the run's code. The caller holds the locks of both codelabs.
func (r *Request) publishWithWorkspace(w *pb.Workspace, source string, has *pb.Workspace, b codelab.Publish, uploads []string) (codelab.Published, error) {
	b.Replaces = has
	if w == nil || sameHeads(w, has) {
		return r.publish(b, uploads)
	}
	var err error
	if b.Workspace, err = r.copyCode(source, w); err != nil {
		return codelab.Published{}, err
	}
	made, err := r.publish(b, uploads)
	if r.uncopy(b.Workspace, err); made.OldWorkspace != "" {
		r.api.Workspaces.Remove(made.OldWorkspace)
	}
	return made, err
}

// sameHeads reports whether two workspaces contain the same code under the same names.
func sameHeads(a, b *pb.Workspace) bool {
	return b != nil && a.StructureType == b.StructureType && slices.EqualFunc(a.Heads, b.Heads, func(x, y *pb.WorkspaceHead) bool {
		return x.Name == y.Name && x.Tree == y.Tree
	})
}

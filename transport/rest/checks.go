package rest

import (
	"net/url"
	"strings"

	"atelier/actors/codelab"
	pb "atelier/actors/codelab/codelabpb"
	"atelier/transport/auth"
	"atelier/transport/wire"
)

// checkRecord is the result of a check of an attendee's work, as reported by their own program
// (RULES.md, "Checks").
type checkRecord struct {
	Name  string `json:"name" length:"1..64"`
	OK    bool   `json:"ok"`
	Note  string `json:"note" length:"..500"`
	At    string `json:"at" is:"Timestamp"`
	Tries uint32 `json:"tries" doc:"The number of the attendee's reports, including the latest."`
}

// maxReport bounds a report, in bytes.
const maxReport = 8 << 10

var noChecks = []checkRecord{}

func toChecks(all []*pb.CheckResult) []checkRecord {
	if len(all) == 0 {
		return noChecks
	}
	out := make([]checkRecord, len(all))
	for i, c := range all {
		out[i] = checkRecord{c.Name, c.Ok, c.Note, wire.Stamp(c.At), c.Tries}
	}
	return out
}

// checkCounts counts the results of a check over all attendees.
type checkCounts struct {
	Name       string `json:"name" length:"1..64"`
	Title      string `json:"title"`
	StepNumber int    `json:"step_number" range:"1.."`
	OK         int    `json:"ok" doc:"The number of people whose latest report is a success."`
	Failed     int    `json:"failed" doc:"The number of people whose latest report is a failure."`
}

func countChecks(v *codelab.View) []checkCounts {
	out := make([]checkCounts, len(v.Checks))
	at := map[string]int{}
	for i, c := range v.Checks {
		out[i] = checkCounts{Name: c.Name, Title: c.Title, StepNumber: c.StepNumber}
		at[c.Name] = i
	}
	for _, a := range v.Attendees.All() {
		for _, c := range a.Checks {
			switch i, declared := at[c.Name]; {
			case !declared:
			case c.Ok:
				out[i].OK++
			default:
				out[i].Failed++
			}
		}
	}
	return out
}

// checkCell returns the result of a check for a table cell, or "" without a report.
func checkCell(a *pb.Attendee, name string) string {
	r := codelab.Reported(a, name)
	if r == nil {
		return ""
	}
	return map[bool]string{true: "ok", false: "failed"}[r.Ok]
}

// giveCheckAccess returns the secret and the address that a program needs to report checks.
func giveCheckAccess(r *Request) error {
	if err := r.decodeOptional(&struct{}{}); err != nil {
		return err
	}
	secret, expires, ok, err := r.api.Auth.Personal(&r.who, auth.Check, r.Codelab.ID(), false)
	if err != nil {
		return err
	}
	if !ok {
		return errForbidden
	}
	return r.JSON(checkAccess{r.root() + "/api/check", secret, wire.Stamp(expires.UnixMilli())})
}

type checkAccess struct {
	URL       string `json:"url" doc:"Append a slash and the name of the check."`
	Token     string `json:"token" doc:"For «Authorization: Bearer». A secret."`
	ExpiresAt string `json:"expires_at" is:"Timestamp"`
}

// identifyChecker identifies the caller by a personal secret for checks, and sets the codelab to
// which the secret belongs. bad means that the secret is missing or invalid.
func (r *Request) identifyChecker() (bad bool, err error) {
	scheme, secret, _ := strings.Cut(string(r.Request.Header.Peek("Authorization")), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return true, nil
	}
	who, lab, ok, err := r.api.Auth.IdentifyPersonal(auth.Check, strings.TrimSpace(secret))
	if err != nil || !ok {
		return true, err
	}
	r.who = who
	r.SetUserValue("id", lab)
	return false, nil
}

// reportCheck stores a program's report on its owner's work. It also accepts a form, so that a
// program of one line can send a report.
func reportCheck(r *Request) error {
	b, err := r.checkInput()
	if err != nil {
		return err
	}
	b.Name = r.Param("check")
	if _, err := r.do(b); err != nil {
		return err
	}
	return r.ok()
}

type checkReportBody struct {
	OK   *bool  `json:"ok"`
	Note string `json:"note,omitempty" length:"..500" doc:"A note for facilitators."`
}

func (r *Request) checkInput() (b codelab.ReportCheck, err error) {
	if !r.Type("application/x-www-form-urlencoded") {
		if len(r.Request.Header.ContentType()) > 0 && !r.Type("application/json") {
			return b, errReportType
		}
		var in checkReportBody
		if err := r.decode(&in); err != nil {
			return b, err
		}
		return codelab.ReportCheck{OK: *in.OK, Note: in.Note}, nil
	}
	body, err := r.Read(maxReport)
	if err != nil {
		return b, err
	}
	form, err := url.ParseQuery(string(body))
	if err != nil {
		return b, wire.Invalid("the form cannot be parsed")
	}
	b.Note = form.Get("note")
	switch form.Get("ok") {
	case "true", "1":
		b.OK = true
	case "false", "0":
	default:
		return b, wire.Invalid("ok must be true or false")
	}
	return b, r.still()
}

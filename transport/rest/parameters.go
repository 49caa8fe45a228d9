package rest

import (
	"slices"

	"atelier/transport/describe"
)

// parameters lists the parameters of operations, by their names as components of the document.
// Parameters of different operations can have the same name but different meanings, so a component
// can have another name than its parameter. A path contains the name of its parameter.
var parameters = map[string]describe.Parameter{
	"certificate_id": inPath("id", "The id of the attendee.", text),
	"message_id":     inPath("message_id", "The id of the message.", text),
	"thread_id":      inPath("thread_id", "The id of the thread.", text),
	"comment_id":     inPath("comment_id", "The id of the comment.", text),
	"help_id":        inPath("help_id", "The id of the help request.", text),
	"material_id":    inPath("material_id", "The material.", describe.Ref("Id")),
	"upload_kind":    inPath("kind", "The kind of the uploaded file.", oneOf("images", "materials")),
	"upload_name":    inPath("name", "The file's random name.", &describe.Schema{Type: "string", Pattern: `^[0-9a-f]{32}\.[0-9a-z]{1,10}$`}),
	"participant_id": inPath("participant_id", "The id of a participant.", text),
	"key_id":         inPath("key_id", "The id of a key.", text),
	"grantor_id":     inPath("for_id", "The id of the participant on whose behalf the other acts.", text),
	"person_id":      inPath("person_id", "The id of the person.", text),
	"login_id":       inPath("session_id", "The id of the login, from the account.", text),
	"poll_id":        inPath("poll_id", "The id of the poll.", text),
	"question_id":    inPath("question_id", "The id of the question.", text),
	"codelab_id":     inPath("id", "The id of the codelab.", text),
	"attendee_id":    inPath("attendee_id", "The id of an attendee of the codelab.", text),
	"submission_id":  inPath("submission_id", "The submission.", describe.Ref("Id")),
	"token_id":       inPath("token_id", "The id of the API token.", text),
	"webhook_id":     inPath("webhook_id", "The id of the webhook.", text),
	"branch":         inPath("branch", "The name of a branch: `[a-z0-9][a-z0-9._-]*`, if Git allows it.", text),
	"folder":         inPath("folder", "The name of a folder: `[a-z0-9][a-z0-9._-]*`.", text),
	"check":          inPath("check", "The name in the step's block.", &describe.Schema{Type: "string", MinLength: 1, MaxLength: 64}),
	"join_code":      inPath("code", "The code as typed.", text),

	"last":     inHeader("Last-Event-ID", "`epoch:seq`, which browsers send themselves when they reconnect. It takes precedence over the query.", &describe.Schema{Type: "string", Pattern: `^.*:\d+$`}),
	"range":    inHeader("Range", "The requested part, in bytes.", text),
	"if_range": inHeader("If-Range", "An ETag. If it is not the tag of the current content, the response is the whole.", text),
	"if_match": inHeader("If-Match", "The `ETag` of the version that was edited, or a list of tags. If the object has been edited since, the response is 412. Only the part of a tag before the dot is compared; `W/` and the suffix of a coding (`-gzip`) are ignored. With `*`, or without the header, the last edit wins.", text),
	"etag":     inHeader("If-None-Match", "The ETag of an earlier response. The response is 304 if nothing has changed.", text),
	"csrf":     inHeader("X-CSRF-Token", "The value of the cookie `svc_csrf`. Required for POST, PUT and DELETE with a session cookie, but not with an API token.", text),

	"limit_audit":     inQuery("limit", "The maximum number of records.", &describe.Schema{Type: "integer", Minimum: 1, Maximum: 1000, Default: 100}),
	"offset":          inQuery("offset", "The number of the newest records to skip.", &describe.Schema{Type: "integer", Minimum: 0, Default: 0}),
	"audit_codelab":   inQuery("codelab_id", "Only records of this codelab.", text),
	"action":          inQuery("action", "Only records of this action.", text),
	"limit_chat":      inQuery("limit", "The maximum number of messages.", &describe.Schema{Type: "integer", Minimum: 1, Maximum: 1000, Default: 500}),
	"before":          inQuery("before", "The id of a message. Only older messages are returned.", text),
	"target_type":     inQuery("target_type", "Only threads on steps, or on the guide.", oneOf("step", "guide")),
	"target_step_id":  inQuery("target_step_id", "Only threads on this step.", text),
	"git_service":     required(inQuery("service", "The service that the client requests.", oneOf("git-upload-pack", "git-receive-pack"))),
	"epoch":           inQuery("epoch", "The stream to which `since` belongs, from `welcome`.", text),
	"since":           inQuery("since", "The last position that the client has seen. The server replays the missed messages and continues live. Unless it is 0, `since` needs `epoch`; without it the server sends a `resync`.", &describe.Schema{Type: "integer", Minimum: 0}),
	"after_text":      inQuery("after", "The id of the last text of the previous page.", text),
	"session_codelab": inQuery("codelab_id", "Return the attendee's grant for this codelab.", text),
	"as":              inQuery("as", "The grant to use if the session has both. The default is the admin's.", oneOf("admin", "attendee")),
	"file":            required(inQuery("file", "The path of a file.", text)),
	"replace":         inQuery("replace", "Removes files that are not in the archive.", &describe.Schema{Type: "boolean", Default: false}),
	"file_format":     inQuery("format", "With `json` the response is an object. If omitted, it is the content of the file.", oneOf("json")),
	"download_branch": inQuery("branch", "Return the files of this branch.", text),
	"download_folder": inQuery("folder", "Return the files of this folder.", text),
	"download_format": inQuery("format", "The format of the archive of a branch or folder.", &describe.Schema{Type: "string", Enum: []any{"tar.gz", "zip"}, Default: "tar.gz"}),
	"to":              inQuery("to", "The path to redirect to afterwards. It begins with one `/`, not followed by another `/` or a `\\`, and has at most 256 characters. Any other value means `/admin`.", text),
	"signin_state":    inQuery("state", "", text),
	"signin_code":     inQuery("code", "", text),
	"signin_error":    inQuery("error", "", text),
	"q":               inQuery("q", "Only codelabs that contain this text in the title or the author, in any case. For facilitators also the codelab with this join code.", &describe.Schema{Type: "string", MaxLength: 400}),
	"source_id":       inQuery("source_id", "Only the copies of this codelab.", describe.Ref("Id")),
	"into":            inQuery("into", "The id of the codelab to update.", describe.Ref("Id")),
	"match":           inQuery("match", "Updates the codelab whose `slug` is the `id:` in the file's header, or creates it.", zeroOrOne),
	"import_dry_run":  inQuery("dry_run", "With `into` or `match`: returns what would change, and changes nothing.", zeroOrOne),
	"source_dry_run":  inQuery("dry_run", "Returns what would change, and changes nothing.", zeroOrOne),
	"itself":          inQuery("itself", "Adds the results of the codelab itself at the end.", zeroOrOne),
	"bom":             inQuery("bom", "Unless this is 0, the table begins with a byte order mark, so that Excel detects UTF-8.", zeroOrOne),
	"view":            inQuery("view", "With `true` the table is only displayed to the caller, and the request is not audited.", boolean),
	"names":           inQuery("names", "Include people's own texts.", zeroOrOne),
	"missing":         inQuery("missing", "Adds `missing` to the record. Attendees can request it only for themselves.", boolean),
	"details":         inQuery("details", "Adds `steps` and `quiz` to the record. Attendees can request them only for themselves.", boolean),
	"erase":           inQuery("erase", "Also removes the attendee's anonymous questions, though not immediately.", zeroOrOne),
}

func inPath(name, about string, s *describe.Schema) describe.Parameter {
	return describe.Parameter{Name: name, In: "path", Required: true, Description: about, Schema: s}
}

func inHeader(name, about string, s *describe.Schema) describe.Parameter {
	return describe.Parameter{Name: name, In: "header", Description: about, Schema: s}
}

func inQuery(name, about string, s *describe.Schema) describe.Parameter {
	return describe.Parameter{Name: name, In: "query", Description: about, Schema: s}
}

func required(p describe.Parameter) describe.Parameter {
	p.Required = true
	return p
}

var (
	text      = &describe.Schema{Type: "string"}
	boolean   = &describe.Schema{Type: "boolean"}
	zeroOrOne = oneOf("0", "1", "true", "false")
)

func oneOf(values ...any) *describe.Schema { return &describe.Schema{Type: "string", Enum: values} }

// pathParameter returns the component of the parameter that a path contains as {name}. chosen
// contains the components that the operation lists. They take precedence, because {id} is the id of
// a codelab in nearly all other paths.
func pathParameter(name string, chosen []string) string {
	usual := ""
	for component, p := range parameters {
		switch {
		case p.In != "path" || p.Name != name:
		case slices.Contains(chosen, component):
			return component
		case name == "id":
			usual = "codelab_id"
		default:
			usual = component
		}
	}
	return usual
}

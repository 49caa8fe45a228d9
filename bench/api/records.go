package api

// Codelab contains the data of a codelab that a run needs.
type Codelab struct {
	ID    string `json:"id"`
	Title string `json:"title"`
	// Steps are returned separately, see GetCodelab.
	Steps []Step `json:"-"`
}

// Step is a step of a codelab.
type Step struct {
	ID      string `json:"id"`
	Content string `json:"content_markdown"`
}

// Attendee is a registered person and their progress.
type Attendee struct {
	ID       string `json:"id"`
	Name     string `json:"name"`
	Current  int    `json:"current_step"`
	Furthest int    `json:"furthest_step"`
}

// ChatMessage is a message of the history.
type ChatMessage struct {
	ID      string `json:"id"`
	Message string `json:"message"`
}

// Thread is a thread of inline comments.
type Thread struct {
	Messages []struct {
		Message string `json:"message"`
	} `json:"messages"`
}

// HelpRequest is an open request for help.
type HelpRequest struct {
	ID string `json:"id"`
}

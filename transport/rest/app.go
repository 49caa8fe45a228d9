package rest

import (
	"errors"

	"atelier/actors/codelab"
	"atelier/actors/durable"
	"atelier/transport/intake"
)

// AppInfo is the server's configuration for apps before login (RULES.md, "Live teaching"). It
// contains no other settings.
type AppInfo struct {
	Version, Mode string
	IceServers    []IceServer
	// Embed lists the hosts whose pages can be embedded in steps. The form *.host means all
	// subdomains.
	Embed []string
}

// IceServer is an ICE server through which browsers connect to each other (WebRTC).
type IceServer struct {
	URLs       []string `json:"urls" items:"1.."`
	Username   string   `json:"username,omitempty"`
	Credential string   `json:"credential,omitempty"`
}

// appLimits contains limits, in bytes if the name ends in Bytes, otherwise in code points.
type appLimits struct {
	Name            int `json:"name" range:"any" doc:"A person's name."`
	Message         int `json:"message" range:"any" doc:"A chat message, direct message, broadcast, pin or comment."`
	StepContent     int `json:"step_content" range:"any" doc:"The Markdown of one step, and of the guide."`
	ImageBytes      int `json:"image_bytes" range:"any"`
	MaterialBytes   int `json:"material_bytes" range:"any"`
	SubmissionBytes int `json:"submission_bytes" range:"any" doc:"A submitted file."`
	AttendeeBytes   int `json:"attendee_bytes" range:"any" doc:"All submissions of an attendee."`
	ImportBytes     int `json:"import_bytes" range:"any"`
}

// appInfo is this server's configuration as sent to apps.
type appInfo struct {
	Version    string      `json:"version" doc:"The version of the program."`
	Mode       string      `json:"mode" enum:"backend|serverless" doc:"The rule for deleting an inline comment: its author and admins can, or only its author."`
	Limits     appLimits   `json:"limits"`
	IceServers []IceServer `json:"ice_servers" doc:"STUN and TURN servers, in the format of RTCPeerConnection."`
	AI         bool        `json:"ai" doc:"Whether the AI can answer questions, because a usable key is set. A codelab can still forbid it."`
	OIDC       *oidcInfo   `json:"oidc" doc:"The identity provider for sign-in, at «/api/login/oidc». Null if there is none."`
	Passwords  bool        `json:"password_login" doc:"Whether people other than the owner can have a password."`
	Embed      []string    `json:"embed" doc:"Hosts whose pages steps can show, after a press. «*.example.org» means all hosts below that one."`
}

func getApp(r *Request) error {
	app, b := r.api.App, codelab.Bounds
	servers := app.IceServers
	if servers == nil {
		servers = []IceServer{}
	}
	embed := app.Embed
	if embed == nil {
		embed = []string{}
	}
	// A key that cannot be decrypted counts as missing. But if the look-up fails, the request
	// fails, because the app asks only once.
	key, err := r.StoredKey()
	if errors.Is(err, durable.ErrUnavailable) || errors.Is(err, durable.ErrTimeout) {
		return err
	}
	return r.JSON(appInfo{
		app.Version, app.Mode,
		appLimits{
			b.Name, b.Message, b.Markdown, intake.MaxImage, intake.MaxMaterial, codelab.MaxSubmissionBytes, codelab.MaxAttendeeBytes, maxImport,
		},
		servers, err == nil && !key.Zero(), r.api.SignIn.info(), !r.api.OwnerPassword, embed,
	})
}

package rest

import (
	"errors"

	"atelier/actors/codelab"
	"atelier/actors/durable"
	"atelier/transport/intake"
)

// AppInfo is the server's configuration for apps before login (RULES.md, "Live teaching").
// It contains no other settings.
type AppInfo struct {
	Version, Mode string
	IceServers    []IceServer
	// Embed lists the hosts whose pages may be embedded in steps; *.host includes all subdomains.
	Embed []string
}

// IceServer is an ICE server through which browsers connect to each other (WebRTC).
type IceServer struct {
	URLs       []string `json:"urls" items:"1.."`
	Username   string   `json:"username,omitempty"`
	Credential string   `json:"credential,omitempty"`
}

// appLimits are in code points and in bytes.
type appLimits struct {
	Name            int `json:"name" range:"any" doc:"A person's name."`
	Message         int `json:"message" range:"any" doc:"A chat message, direct message, broadcast, pin or comment."`
	StepContent     int `json:"step_content" range:"any" doc:"The Markdown of one step, and of the guide."`
	ImageBytes      int `json:"image_bytes" range:"any"`
	MaterialBytes   int `json:"material_bytes" range:"any"`
	SubmissionBytes int `json:"submission_bytes" range:"any" doc:"One file that is handed in."`
	AttendeeBytes   int `json:"attendee_bytes" range:"any" doc:"All that one attendee hands in."`
	ImportBytes     int `json:"import_bytes" range:"any"`
}

// appInfo answers with this server's configuration for apps.
type appInfo struct {
	Version    string      `json:"version" doc:"Of the program."`
	Mode       string      `json:"mode" enum:"backend|serverless" doc:"Rule for deleting an inline comment: its author or an admin, or only its author."`
	Limits     appLimits   `json:"limits"`
	IceServers []IceServer `json:"ice_servers" doc:"STUN and TURN servers, as RTCPeerConnection takes them."`
	AI         bool        `json:"ai" doc:"Questions to the AI can be answered: a key is set that can be used. Each codelab may still forbid it."`
	OIDC       *oidcInfo   `json:"oidc" doc:"The identity provider where people sign in, at «/api/login/oidc»; null without one."`
	Passwords  bool        `json:"password_login" doc:"Whether people other than the owner can have a password."`
	Embed      []string    `json:"embed" doc:"Hosts whose pages may be shown in steps, after a press; «*.example.org» is all below that host."`
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

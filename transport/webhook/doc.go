// Package webhook delivers events to webhooks (transport/rest/RULES.md, "Webhooks"). Bodies are
// signed according to Standard Webhooks (standardwebhooks.com) and posted over https. The address
// is checked for each delivery.
package webhook

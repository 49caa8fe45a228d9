// Package webhook sends what webhooks want (transport/rest/RULES.md, "Webhooks"): the
// bodies of events, signed as Standard Webhooks says (standardwebhooks.com), posted
// over https to an address that is checked for each delivery.
package webhook

package acceptance

// kept returns the data of a market that later uses of its tokens need.
func (m *market) kept() keptMarket {
	keep := func(p *member) keptMember { return keptMember{p.id, p.identity, p.secret} }
	return keptMarket{Path: m.path, Platform: keep(m.platform), Business: keep(m.business)}
}

// join uses the features of participants: encryption keys, API keys, acknowledgements, grants and
// disabling.
func (m *market) join() {
	m.t.Helper()
	public, _ := encryptionKeys(m.t)
	m.business.do("PUT", "/keys", public).want(200)
	path := "/admin/participants/" + m.psp.id
	m.admin.post(path+"/keys", nil).want(200)
	m.admin.delete(path + "/keys/" + m.psp.keyID).want(204)
	other := m.add("business", "detokenize")
	m.acknowledge(other)
	m.admin.post(path+"/grants", record{"participant_id": other.id}).want(200)
	m.admin.delete(path + "/grants/" + m.business.id).want(204)
	m.admin.post("/admin/participants/"+other.id+"/disable", nil).want(200)
}

// hold makes a token of each policy, and one token for each way in which a token ends. A session's
// end is remembered for 400 days, whatever the configuration. A folder is used for longer, so
// actors/token/testdata covers ended sessions.
func (k *keptMarket) hold(m *market, prefix string) {
	m.t.Helper()
	add := func(checkout, policy string, seconds int, then func(token, checkout string)) {
		m.t.Helper()
		m.policy(m.business, policy, seconds)
		checkout = prefix + " " + checkout
		x := keptToken{Checkout: checkout}
		if policy == "session" { // an idempotency key expires with its token, and only session tokens last
			x.Key = "the idempotency key of " + checkout
		}
		x.Token = m.tokenize(checkout, header("Idempotency-Key", x.Key))
		if then != nil {
			then(x.Token, checkout)
		}
		x.Seen = m.business.post("/introspect", use(x.Token, checkout)).object()
		k.Tokens = append(k.Tokens, x)
	}
	detokenize := func(token, checkout string) { m.business.post("/detokenize", use(token, checkout)).want(200) }
	add("ttl", "ttl", 1200, nil)
	add("single use", "single_use", 0, nil)
	add("single use, used", "single_use", 0, detokenize)
	add("session", "session", 0, nil) // it stays active
	add("session, used", "session", 0, detokenize)
	add("session, another checkout", "session", 0, func(token, _ string) { m.business.post("/detokenize", use(token, "another")).want(403) })
	add("session, revoked", "session", 0, func(token, checkout string) { m.business.post("/revoke", use(token, checkout)).want(204) })
	add("session, locked", "session", 0, func(token, _ string) {
		for range 5 {
			m.business.post("/detokenize", use(token, "another")).want(403)
		}
	})
}

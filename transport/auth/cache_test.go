package auth

import (
	"fmt"
	"testing"
)

// A verified cookie is cached for cacheFor. Even if a client sends many cookies, the cache keeps at
// most two generations.
func TestTheCookieCacheIsBoundedInSizeAndTime(t *testing.T) {
	var c sessionCache
	for i := range 3*cacheSize + 1 {
		c.put(fmt.Sprint(i), &verified{sid: "session", at: 1000})
	}
	if n := len(c.new) + len(c.old); n > 2*cacheSize {
		t.Errorf("%d cookies are cached", n)
	}
	for _, cookie := range []string{fmt.Sprint(3 * cacheSize), fmt.Sprint(3*cacheSize - 1)} { // a cookie of the new generation, and one of the old
		if v := c.get([]byte(cookie), 1000+cacheFor-1); v == nil || v.sid != "session" {
			t.Errorf("the cookie %s is not cached", cookie)
		}
		if c.get([]byte(cookie), 1000+cacheFor) != nil {
			t.Errorf("the cookie %s is cached for too long", cookie)
		}
	}
	c.forget()
	for _, cookie := range []string{fmt.Sprint(3 * cacheSize), fmt.Sprint(3*cacheSize - 1)} {
		if c.get([]byte(cookie), 1000) != nil {
			t.Errorf("the cookie %s is still cached after forget", cookie)
		}
	}
}

// Package server owns the listeners: the public one, on which fasthttp serves everything, and the
// internal one for probes, metrics and profiles.
package server

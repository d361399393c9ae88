//go:build unix

package main

// A scene is what a picture shows: commands that somebody types, and their output.
type scene struct {
	name    string
	columns int
	before  string   // commands that nobody sees, as a script for bash
	typed   []string // commands; the last stays on the screen
	until   string   // the last command runs until the screen has this text, and then a moment more; "" is until its end
}

var scenes = []scene{
	{
		name:    "inspect",
		columns: 100,
		typed:   []string{"firn inspect 0549x5l2itvr4", "firn inspect 01970e9a-6e1f-7c4e-9f0a-3b1c5d7e9f10"},
	},
}

// title returns the title of the window.
func (s scene) title() string { return s.typed[len(s.typed)-1] }

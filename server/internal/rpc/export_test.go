package rpc

// MaxAnswers is the most bytes of answers that one connection keeps.
const MaxAnswers = maxAnswers

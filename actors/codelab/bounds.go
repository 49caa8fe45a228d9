package codelab

import "atelier/actors/markdown"

// Bounds contains the limits that affect a codelab's clients. Descriptions of the API read the
// limits from here, so that they never differ from the rules.
var Bounds = struct {
	// These are the maximum numbers per codelab.
	Attendees, Threads, ThreadMessages, Chat, SettledHelp, Materials, Quizzes, Steps, Mentions, Heads int
	// Submissions is the maximum number per person. Refs is the maximum number of a person's
	// messages with a ref within ten minutes.
	Submissions, Refs int
	// QuizOptions is the maximum number of options of a quiz question.
	QuizOptions int
	// These are the maximum numbers of stored AI conversations, per person and per codelab.
	PersonConversations, Conversations int
	// These are the maximum numbers of individual notices to clients. Gone is the maximum of
	// notices about a removed person's messages, and also the maximum of notices about the person's
	// threads. PulseNotices bounds the notices about pulses that end because their steps are
	// removed.
	Gone, PulseNotices int
	// Polls and Questions are the maximum numbers per codelab. PollOptions and PollBoxes are the
	// maximum numbers of options and of text boxes per poll. OpenAsked is the maximum number of
	// open questions per person.
	Polls, PollOptions, PollBoxes, Questions, OpenAsked int
	// MinSeconds and MaxSeconds bound the duration of a poll or a timer. VoteWords bounds the
	// words of a vote.
	MinSeconds, MaxSeconds, VoteWords int
	// Checks is the maximum number of checks declared by the steps of a codelab.
	Checks int
	// Tasks is the maximum number of tasks per step that can be ticked.
	Tasks int
	// Directs is the maximum number of recipients of a message to an audience.
	Directs int
	// Answered is the maximum number of requests for help answered by one message.
	Answered int
	// These are the maximum lengths of texts, in code points.
	Title, Description, Author, Markdown, Name, Place, Message, HelpMessage, Reason, Answer, AIQuestion, AIAnswer, URL int
	QuizQuestion, QuizOption, PollQuestion, PollOption, VoteWord, VoteText, QuestionText, TimerLabel, CheckNote        int
}{
	Attendees: maxAttendees, Threads: maxThreads, ThreadMessages: maxThreadMessages, Chat: maxChat, SettledHelp: maxSettledHelp,
	Materials: maxMaterials, Quizzes: maxQuizzes, Steps: maxSteps, Mentions: maxMentions, Heads: maxHeads,
	Submissions: maxSubmissions, Refs: refsPerPerson,
	PersonConversations: maxPersonConversations, Conversations: maxConversations,
	Gone: maxGone, PulseNotices: maxPulseNotices, Directs: maxDirects, Answered: maxAnswered,
	Title: maxTitle, Description: maxDescription, Author: maxAuthor, Markdown: maxMarkdown, Name: maxName, Place: maxPlace,
	Polls: maxPolls, PollOptions: maxPollOptions, PollBoxes: maxPollBoxes, Questions: maxQuestions, OpenAsked: maxOpenAsked,
	MinSeconds: minPollSeconds, MaxSeconds: maxPollSeconds, VoteWords: maxVoteWords,
	QuizOptions: maxQuizOptions, QuizQuestion: maxQuizQuestion, QuizOption: maxQuizOption,
	PollQuestion: maxPollQuestion, PollOption: maxPollOption, VoteWord: maxVoteWord, VoteText: maxVoteText,
	QuestionText: maxQuestionText, TimerLabel: maxTimerLabel, Checks: MaxChecks, CheckNote: maxCheckNote, Tasks: markdown.MaxTasks,
	Message: maxMessage, HelpMessage: maxHelpMessage, Reason: maxReason,
	Answer: maxAnswer, AIQuestion: maxAIQuestion, AIAnswer: maxAIAnswer, URL: maxURL,
}

/** The template that is used when none is named. As text, so that it can be printed with its explanations. */
export const NINE_PHASES = `# Nine phases over three conversations. Copy this to .sessions/workflows/NAME.yaml and change it.
name: nine-phases
phases:
  # id: how the phase is named in commands; its number when left out.
  # conversation: phases that name the same one share a conversation, and where it changes is the place for a fresh one.
  # tokens: what the phase typically uses, a number or a range; says how much of the whole it is.
  - id: 1
    name: Requirements
    conversation: planning
    tokens: 12.5K-20K
    focus: what is wanted, by whom, and how it will be told that it is there
  - id: 2
    name: Design
    conversation: planning
    tokens: 12.5K-20K
    focus: how it is going to be built, and what was decided against
  - id: 3
    name: UI
    conversation: planning
    tokens: 12.5K-20K
    focus: what people see and do
  # gate: approval means that the next phase opens when a person approved this one.
  - id: 4
    name: Tests
    conversation: planning
    tokens: 12.5K-20K
    focus: which tests will show that it works
    gate: approval
  - id: 5
    name: TDD Implementation
    conversation: implementation
    tokens: 80K-150K
    gate: approval
    # sub_phases have an id (the phase's with a letter when left out), a name, a focus and deliverables.
    sub_phases:
      - id: 5a
        name: TDD RED
        focus: tests that fail for the right reason
      - id: 5b
        name: TDD GREEN
        focus: the least code that makes them pass
      - id: 5c
        name: TDD REFACTOR
        focus: the same behaviour in better code
  # deliverables: paths that the phase is to leave behind, such as [docs/design.md].
  - id: 6
    name: Review
    conversation: review and deploy
    tokens: 10K-15K
    focus: the change as somebody reads it who did not write it
  - id: 7
    name: Verify
    conversation: review and deploy
    tokens: 10K-15K
    focus: the whole, run as it will be used
  - id: 8
    name: Docs
    conversation: review and deploy
    tokens: 10K-15K
    focus: what users and the next developer have to know
  - id: 9
    name: Notify
    conversation: review and deploy
    tokens: 10K-15K
    focus: telling those who wait for it
`

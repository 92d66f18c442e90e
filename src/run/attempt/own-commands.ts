/**
 * The beginnings of Stint's own commands that an agent in a run needs: to report, to record, to look. None of them starts a
 * program, writes a file of the agent's choosing, or does what the run does itself.
 */
export const OWN_COMMANDS: readonly string[] = [
  'stint task',
  'stint log',
  'stint view',
  'stint checkpoint save',
  'stint checkpoint list',
  'stint checkpoint diff',
  'stint handoff create',
  'stint handoff show',
  'stint handoff list',
  'stint profiles',
  'stint pack',
  'stint search',
  'stint project',
  'stint budget',
  'stint list',
  'stint runs',
  'stint digest list',
  'stint digest show',
  'stint --help',
  'stint --version',
]

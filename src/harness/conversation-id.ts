export { isConversationId } from '../history/conversation-id.ts'

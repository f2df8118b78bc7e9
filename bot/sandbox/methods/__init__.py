"""Every Bot API method that works here, by name, and the names of those that do not.

`perform` is the one entrance: it finds the method (names count without their case) and runs it on the world.
getUpdates waits, and is therefore in `bot.sandbox.polling`.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from bot.sandbox.methods import callbacks, chats, commands, editing, files, messages, updates
from bot.sandbox.methods.call import Call
from bot.sandbox.refusals import Refused, not_here, unknown_method

METHODS: dict[str, Callable[[Call], object]] = {
    "getMe": chats.get_me,
    "logOut": chats.log_out,
    "close": chats.log_out,
    "getChat": chats.get_chat,
    "getChatMember": chats.get_chat_member,
    "getChatMemberCount": chats.get_chat_member_count,
    "getChatAdministrators": chats.get_chat_administrators,
    "leaveChat": chats.leave_chat,
    "setWebhook": updates.set_webhook,
    "deleteWebhook": updates.delete_webhook,
    "getWebhookInfo": updates.get_webhook_info,
    "sendMessage": messages.send_message,
    "sendPhoto": messages.send_photo,
    "sendDocument": messages.send_document,
    "sendMediaGroup": messages.send_media_group,
    "sendChatAction": messages.send_chat_action,
    "forwardMessage": messages.forward_message,
    "copyMessage": messages.copy_message,
    "editMessageText": editing.edit_message_text,
    "editMessageCaption": editing.edit_message_caption,
    "editMessageMedia": editing.edit_message_media,
    "editMessageReplyMarkup": editing.edit_message_reply_markup,
    "deleteMessage": editing.delete_message,
    "deleteMessages": editing.delete_messages,
    "pinChatMessage": editing.pin_chat_message,
    "unpinChatMessage": editing.unpin_chat_message,
    "unpinAllChatMessages": editing.unpin_all_chat_messages,
    "setMessageReaction": editing.set_message_reaction,
    "answerCallbackQuery": callbacks.answer_callback_query,
    "answerInlineQuery": callbacks.answer_inline_query,
    "getFile": files.get_file,
    "setMyCommands": commands.set_my_commands,
    "getMyCommands": commands.get_my_commands,
    "deleteMyCommands": commands.delete_my_commands,
    "setChatMenuButton": commands.set_chat_menu_button,
    "getChatMenuButton": commands.get_chat_menu_button,
    "setMyName": commands.set_my_name,
    "getMyName": commands.get_my_name,
    "setMyDescription": commands.set_my_description,
    "getMyDescription": commands.get_my_description,
    "setMyShortDescription": commands.set_my_short_description,
    "getMyShortDescription": commands.get_my_short_description,
}
_BY_NAME = {name.lower(): method for name, method in METHODS.items()}

# Methods that Telegram has and this program has not: the answer says so, instead of "no such method".
_ELSEWHERE = {
    name.lower(): name
    for name in re.findall(
        r"\w+",
        """
    addStickerToSet answerPreCheckoutQuery answerShippingQuery answerWebAppQuery approveChatJoinRequest
    banChatMember banChatSenderChat closeForumTopic closeGeneralForumTopic copyMessages createChatInviteLink
    createChatSubscriptionInviteLink createForumTopic createInvoiceLink createNewStickerSet declineChatJoinRequest
    deleteChatPhoto deleteChatStickerSet deleteForumTopic deleteStickerFromSet deleteStickerSet editChatInviteLink
    editForumTopic editGeneralForumTopic editMessageChecklist editMessageLiveLocation exportChatInviteLink
    forwardMessages getAvailableGifts getBusinessConnection getCustomEmojiStickers getForumTopicIconStickers
    getGameHighScores getMyDefaultAdministratorRights getMyStarBalance getStarTransactions getStickerSet
    getUserChatBoosts getUserProfilePhotos hideGeneralForumTopic postStory promoteChatMember refundStarPayment
    removeChatVerification removeUserVerification reopenForumTopic reopenGeneralForumTopic restrictChatMember
    revokeChatInviteLink savePreparedInlineMessage sendAnimation sendAudio sendChecklist sendContact sendDice sendGame
    sendGift sendInvoice sendLocation sendMessageDraft sendPaidMedia sendPoll sendSticker sendVenue sendVideo
    sendVideoNote sendVoice setChatAdministratorCustomTitle setChatDescription setChatPermissions setChatPhoto
    setChatStickerSet setChatTitle setGameScore setMyDefaultAdministratorRights setMyProfilePhoto
    setPassportDataErrors setUserEmojiStatus stopMessageLiveLocation stopPoll unbanChatMember unbanChatSenderChat
    unhideGeneralForumTopic unpinAllForumTopicMessages unpinAllGeneralForumTopicMessages uploadStickerFile verifyChat
    verifyUser
    """,
    )
}


def perform(call: Call) -> object:
    """Runs a method; answers its `result`, or raises `Refused`."""
    name = call.method.lower()
    method = _BY_NAME.get(name)
    if method is None:
        raise refusal_for(name)
    return method(call)


def refusal_for(name: str) -> Refused:
    """Why there is no such method here."""
    return not_here(_ELSEWHERE[name]) if name in _ELSEWHERE else unknown_method()

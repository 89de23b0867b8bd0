//! Numbers the properties that are read (MS-OXPROPS).

/// The number of a property. Named properties have the number that names them.
pub(super) type PropertyId = u16;

/// The first number of named properties, which each file numbers itself.
pub(super) const FIRST_NAMED: PropertyId = 0x8000;

/// Declares the properties that are read.
macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident = $id:literal;)*) => {
        $($(#[$doc])* pub(super) const $name: PropertyId = $id;)*
        /// All of them.
        pub(super) const ALL: &[PropertyId] = &[$($id),*];
    };
}

ids! {
    CLASS = 0x001A;
    SUBJECT = 0x0037;
    SUBMITTED = 0x0039;
    REPRESENTED_NAME = 0x0042;
    START = 0x0060;
    END = 0x0061;
    REPRESENTED_ADDRESS = 0x0065;
    HEADERS = 0x007D;
    /// 1 for a recipient, 2 for one of a copy, 3 for one whom the others do not see.
    RECIPIENT_KIND = 0x0C15;
    SENDER_NAME = 0x0C1A;
    SENDER_ADDRESS = 0x0C1F;
    SHOWN_CC = 0x0E03;
    SHOWN_TO = 0x0E04;
    DELIVERED = 0x0E06;
    BODY = 0x1000;
    REPORT = 0x1001;
    COMPRESSED_RTF = 0x1009;
    PAGE = 0x1013;
    NAME = 0x3001;
    ADDRESS = 0x3003;
    DATA = 0x3701;
    SHORT_FILE_NAME = 0x3704;
    LONG_FILE_NAME = 0x3707;
    LONG_PATH = 0x370D;
    MEDIA_TYPE = 0x370E;
    CONTENT_ID = 0x3712;
    ATTACH_FLAGS = 0x3714;
    MAIL_ADDRESS = 0x39FE;
    PHONE = 0x3A08;
    HOME_PHONE = 0x3A09;
    COMPANY = 0x3A16;
    JOB = 0x3A17;
    DEPARTMENT = 0x3A18;
    MOBILE_PHONE = 0x3A1C;
    PAGE_CODE_PAGE = 0x3FDE;
    TEXT_CODE_PAGE = 0x3FFD;
    SENDER_MAIL_ADDRESS = 0x5D01;
    REPRESENTED_MAIL_ADDRESS = 0x5D02;
    IS_HIDDEN = 0x7FFE;
    // Named properties.
    CONTACT_ADDRESS = 0x801B;
    CONTACT_MAIL = 0x8083;
    TASK_START = 0x8104;
    TASK_DUE = 0x8105;
    PLACE = 0x8208;
    EVENT_START = 0x820D;
    EVENT_END = 0x820E;
    RECURRENCE = 0x8232;
}

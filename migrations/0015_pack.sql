-- A passage keeps at most 20 codes of its tokens; see base/token_codes.rs. kb packs those that are stored:
-- store/vectors/tokens.rs. The number keeps an older kb, which would add more, from writing.
SELECT 1;

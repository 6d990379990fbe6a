//! The stack traces, in the order of report 001.

pub(super) const QUEUE_LAMBDA: &str = "auto DB::StorageReplicatedMergeTree::processQueueEntry(ReplicatedMergeTreeQueue::SelectedEntryPtr)::\
                            (anonymous class)::operator()(LogEntryPtr &) const";
/// Report 001's order: `executeReplaceRange` is frame 6.
pub(super) const QUEUE_FRAMES: &[&str] = &[
    "0. DB::Exception::Exception(DB::Exception::MessageMasked&&, int, bool) @ 0x000000001b9da388",
    "1. DB::Exception::Exception(PreformattedMessage&&, int) @ 0x000000000eaea6e2",
    "2. DB::Exception::Exception<String const&, String const&>(int, FormatStringHelperImpl<std::type_identity<String const&>::type, std::type_identity<String const&>::type>, String const&, String const&) @ 0x000000000f1d7604",
    "3. DB::DataPartsExchange::(anonymous namespace)::throwRetryLater(String const&, String const&) @ 0x000000001a38520c",
    "4. DB::DataPartsExchange::Fetcher::relinkPartToDisk(String const&, String const&, std::shared_ptr<DB::IDisk>, bool, Poco::URI const&) @ 0x00000000196c335a",
    "5. DB::DataPartsExchange::Fetcher::fetchSelectedPart(std::shared_ptr<DB::StorageInMemoryMetadata const> const&, String const&) @ 0x0000000019bc919e",
    "6. DB::StorageReplicatedMergeTree::executeReplaceRange(DB::ReplicatedMergeTreeLogEntry&) @ 0x0000000019487a3b",
    "7. DB::StorageReplicatedMergeTree::executeLogEntry(DB::ReplicatedMergeTreeLogEntry&) @ 0x00000000194ea271",
    "8. bool std::__function::__policy_func<bool (std::shared_ptr<DB::ReplicatedMergeTreeLogEntry>&)>::__call_func[abi:ne210105]<DB::StorageReplicatedMergeTree::processQueueEntry(std::shared_ptr<DB::ReplicatedMergeTreeQueue::SelectedEntry>)::$_0> @ 0x000000001951f0c2",
    "9. DB::ReplicatedMergeTreeQueue::processEntry(std::function<std::shared_ptr<zkutil::ZooKeeper> ()>, std::shared_ptr<DB::ReplicatedMergeTreeLogEntry>&) @ 0x000000001a2be6f9",
    "10. DB::StorageReplicatedMergeTree::processQueueEntry(std::shared_ptr<DB::ReplicatedMergeTreeQueue::SelectedEntry>) @ 0x0000000019522d44",
    "11. DB::ExecutableLambdaAdapter::executeStep() @ 0x00000000195c1a6e",
];
pub(super) const QUERY_FRAMES: &[&str] = &[
    "0. DB::Exception::Exception(DB::Exception::MessageMasked&&, int, bool) @ 0x000000001b9da388",
    "1. DB::Exception::Exception(PreformattedMessage&&, int) @ 0x000000000eaea6e2",
    "2. DB::InterpreterFactory::executeQueryImpl(char const*, char const*, std::shared_ptr<DB::Context>) @ 0x0000000017a0c4d1",
    "3. DB::executeQuery(String const&, std::shared_ptr<DB::Context>, DB::QueryFlags) @ 0x0000000017a11e80",
    "4. DB::TCPHandler::runImpl() @ 0x000000001982c4f7",
];
pub(super) const SERVER_FRAMES: &[&str] = &[
    "0. Poco::Net::SocketImpl::error(int, String const&) @ 0x000000001ab30909",
    "1. Poco::Net::SocketImpl::peerAddress() @ 0x000000001897ba82",
    "2. DB::HTTPServerRequest::HTTPServerRequest(std::shared_ptr<DB::IHTTPContext>, Poco::Net::HTTPServerSession&) @ 0x000000001dfbb17f",
    "3. DB::HTTPServerConnection::run() @ 0x000000001c47b167",
    "4. Poco::Net::TCPServerConnection::start() @ 0x0000000019388955",
];
